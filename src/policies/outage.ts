/** How long requests wait for a provider that cannot be reached: 10 minutes. */
export const DEFAULT_OUTAGE_MS = 600_000;

/** This number of failed connections in a row is an outage: one or two may fail by chance. */
const FAILURES_IN_ROW = 3;
/** The gap before the first probe; it doubles with each probe that fails, up to the longest. */
const FIRST_PROBE_MS = 500;
const LONGEST_PROBE_MS = 8_000;

/**
 * After this number of outages that were none, the server closes connections to reject requests:
 * one may be a restart that lets the requests in flight finish.
 */
const FALSE_OUTAGES = 2;
/** That is forgotten after a minute without such a rejection, or without an answer. */
const FORGOTTEN_MS = 60_000;

/** The outage at one moment. Times in ms. */
export interface OutageSnapshot {
  /** Since its beginning. */
  readonly sinceMs: number;
  /** Until requests that wait now fail; Infinity: they never do. */
  readonly leftMs: number;
  /** Probes that failed. */
  readonly failedProbes: number;
}

/**
 * Finds out whether the provider can be reached, from failed connections and from answers. During
 * an outage it determines when a probe may be sent, and how long requests wait.
 */
export class Outage {
  /** Outages so far. */
  count = 0;
  readonly #outageMs: number;
  #startedAt = Number.NaN;
  #inRow = 0;
  #failedProbes = 0;
  #probeAt = Number.NEGATIVE_INFINITY;
  #endsAt = Number.POSITIVE_INFINITY;
  #lastFailedAt = Number.NEGATIVE_INFINITY;
  /** When the first connection failed since the last answer. */
  #rowAt = Number.NEGATIVE_INFINITY;
  /** Attempts of a lower epoch were sent before the outage began. */
  #beganIn = Number.NEGATIVE_INFINITY;
  /** Outages that the first probe, or an answer to an attempt from before, has ended. */
  #falseOutages = 0;
  /** Answers to attempts of a lower epoch are older than the first refused connection. */
  #refusedIn = Number.NEGATIVE_INFINITY;

  constructor(outageMs: number) {
    this.#outageMs = outageMs;
  }

  /** Whether the provider cannot be reached. */
  get isOn(): boolean {
    return !Number.isNaN(this.#startedAt);
  }

  /** Whether connections have failed since the last answer. */
  get isDoubted(): boolean {
    return this.#inRow > 0;
  }

  /** Whether a connection was refused since the last answer. */
  get isRefused(): boolean {
    return this.#refusedIn !== Number.NEGATIVE_INFINITY;
  }

  /** No probe may be sent before this time; -Infinity if there is no outage. */
  get probeAt(): number {
    return this.#probeAt;
  }

  /** How many probes have failed. */
  get failedProbes(): number {
    return this.#failedProbes;
  }

  /** A connection was refused. @param epoch the epoch of attempts that are sent from now on */
  refused(epoch: number): void {
    this.#refusedIn = epoch;
  }

  /** An outage has begun. @param epoch the epoch of attempts that are sent from now on */
  began(epoch: number): void {
    this.#beganIn = epoch;
  }

  /**
   * A connection broke. @param isLate whether a gateway got no answer in time: in an outage that
   * shows an overload, since a server that is down refuses connections
   * @returns whether the server has rejected the request by closing it: its outages were none. A
   * server that limits connections or requests may do so
   */
  rejected(now: number, isLate = false): boolean {
    const since = this.isDoubted ? this.#rowAt : this.#lastFailedAt;
    if (now - since > FORGOTTEN_MS) this.#falseOutages = 0;
    if (isLate && this.isOn) this.#falseOutages = FALSE_OUTAGES;
    if (this.#falseOutages < FALSE_OUTAGES || this.isRefused) return false;
    this.#count(now);
    return true;
  }

  /** A connection failed. @returns whether an outage begins */
  failed(now: number): boolean {
    this.#count(now);
    if (!this.isOn) {
      if (this.#inRow < FAILURES_IN_ROW) return false;
      this.#startedAt = now;
      this.count += 1;
      this.#endsAt = now + this.#outageMs;
      this.#failedProbes = 0;
      this.#probeAt = now + FIRST_PROBE_MS;
      return true;
    }
    // Attempts that were sent before the outage fail late, while no probe may be sent: ignore them.
    if (now < this.#probeAt) return false;
    this.#failedProbes += 1;
    this.#probeAt = now + Math.min(LONGEST_PROBE_MS, FIRST_PROBE_MS * 2 ** this.#failedProbes);
    return false;
  }

  #count(now: number): void {
    if (this.#inRow === 0) this.#rowAt = now;
    this.#inRow += 1;
    this.#lastFailedAt = now;
  }

  /**
   * An attempt of `epoch` was answered. @returns whether that proves that the provider is reached
   */
  answered(epoch: number): boolean {
    if (epoch < this.#refusedIn) return false;
    if (this.isOn && (epoch < this.#beganIn || this.#failedProbes === 0)) this.#falseOutages += 1;
    this.#inRow = 0;
    this.#startedAt = Number.NaN;
    this.#probeAt = Number.NEGATIVE_INFINITY;
    this.#refusedIn = Number.NEGATIVE_INFINITY;
    return true;
  }

  /**
   * How long requests still wait for the end of the outage. The time starts again if it ended a
   * while ago and no probe has failed since: then no request waited, or all gates were paused.
   */
  leftMs(now: number): number {
    if (now - Math.max(this.#endsAt, this.#lastFailedAt) > LONGEST_PROBE_MS) this.restart(now);
    return this.#endsAt - now;
  }

  /** The outage has lasted for `outageMs`. Requests that arrive from now on wait as long again. */
  restart(now: number): void {
    this.#endsAt = now + this.#outageMs;
  }

  snapshot(now: number): OutageSnapshot | undefined {
    if (!this.isOn) return undefined;
    return {
      sinceMs: now - this.#startedAt,
      leftMs: Math.max(0, this.#endsAt - now),
      failedProbes: this.#failedProbes,
    };
  }
}

/**
 * How long, in an outage, a probe without an answer blocks the next probe. Its connection may be
 * lost too, and nothing would report that before the attempt timeout. The time doubles with each
 * unanswered probe, so at most three probes are sent in a minute. Most models answer within it.
 */
const PATIENCE_MS = 10_000;

/** Single requests that test the provider, while all others wait for their answer. */
export class Probes {
  #sent = 0;
  /** The number of the probe in flight; 0 if there is none. */
  #out = 0;
  /** When it was sent, and the number of probes before it that had no answer for too long. */
  #sentAt = 0;
  #silent = 0;

  get isOut(): boolean {
    return this.#out > 0;
  }

  /** @returns its number */
  send(now: number): number {
    this.#silent = this.isOut ? this.#silent + 1 : 0;
    this.#sent += 1;
    this.#out = this.#sent;
    this.#sentAt = now;
    return this.#sent;
  }

  /** @returns whether the ended probe was the one in flight */
  ended(probe: number): boolean {
    if (probe !== this.#out) return false;
    this.#out = 0;
    return true;
  }

  /** Stops waiting for the answer of the probe in flight. */
  forget(): void {
    this.#out = 0;
  }

  /**
   * When another probe may be sent. -Infinity: none is in flight. Infinity: when the one in flight
   * has ended.
   */
  nextAt(isOutage: boolean): number {
    if (!this.isOut) return Number.NEGATIVE_INFINITY;
    return isOutage ? this.#sentAt + PATIENCE_MS * 2 ** this.#silent : Number.POSITIVE_INFINITY;
  }
}
