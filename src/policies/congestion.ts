import type { Timeouts } from '../util/timers.ts';
import type { Backoff } from './backoff.ts';
import type { CompletedAttempt } from './policy.ts';

/** Above half of the number that was too high, each answer makes room for this part of another. */
const GROWTH = 1 / 16;
/** This many more timeouts than answers make up for are an overload. */
const OVERLOAD = 3;
/**
 * An answer makes up for this part of a timeout, and the answers to all attempts in flight for no
 * more: where fewer attempts time out, single requests hang.
 */
const ANSWER = 1 / 4;
/** An answer that took this part of the timeout, and so many times as long as the quickest, is late. */
const LATE_PART = 1 / 2;
const LATE_TIMES = 1.5;
/** After this many timeouts of single attempts in a row, the number in flight is not their cause. */
const MOST_ALONE = 5;

/** The start of a run, and what bounds the number in flight later. */
export interface CongestionContext {
  /** The initial number of attempts in flight. */
  readonly startLimit: number;
  /** Counts outages; undefined: they are not known. */
  readonly backoff?: Pick<Backoff, 'outage'> | undefined;
  /** The time in which attempts time out; undefined: it is not known. */
  readonly timeouts?: Pick<Timeouts, 'timeoutMs'> | undefined;
}

/**
 * Bounds the number of attempts in flight after an outage, and if it is the cause of timeouts: a
 * server that lets requests wait answers none in time when too many wait. As in TCP, the number
 * falls to one then, doubles with each round of answers up to half of what it was, and rises slowly
 * from there. After an outage it begins at half of what it was, and doubles. If another outage
 * begins when the number has reached its bound, it may be the cause: then the number begins as at
 * the beginning of a run, and doubles only up to half of what it was.
 */
export class Congestion {
  /** Infinity: no bound is known. */
  limit = Number.POSITIVE_INFINITY;
  /**
   * Whether timeouts have bounded it, so that no more requests may begin. After an outage others may
   * begin: a request whose own connection breaks again and again fails.
   */
  isReduced = false;
  readonly #context: CongestionContext;
  /** The outages that the bound takes account of. */
  #outages: number;
  /** The most attempts in flight since the last reduction or outage. */
  #most = 0;
  /** Up to this number each answer makes room for one more. */
  #doublesTo = Number.POSITIVE_INFINITY;
  /** Timeouts, minus what answers make up for, and the requests of these timeouts. */
  #score = 0;
  readonly #late = new Set<CompletedAttempt>();
  /** How many more single attempts may time out; 0: the number in flight is not the cause. */
  #alone = MOST_ALONE;
  #quickestMs = Number.POSITIVE_INFINITY;

  constructor(context: CongestionContext) {
    this.#context = context;
    this.#outages = this.#outagesSoFar;
  }

  /** The time in which attempts time out; Infinity: not known. */
  get timeoutMs(): number {
    return this.#context.timeouts?.timeoutMs ?? Number.POSITIVE_INFINITY;
  }

  /**
   * An attempt has ended.
   * @param inFlight the number of attempts in flight, with this one
   * @param tookMs for an accepted attempt, how long it took; NaN: not known
   * @returns whether it may make room for more: an answer has come, and not late
   */
  ended(completed: CompletedAttempt, inFlight: number, tookMs: number): boolean {
    this.#most = Math.max(this.#most, inFlight);
    const outages = this.#outagesSoFar;
    if (outages > this.#outages) {
      this.#outages = outages;
      const half = Math.max(1, this.#most / 2);
      // Only if the bound was reached, the number in flight may be the cause.
      const isByLoad = this.#most >= this.limit;
      if (isByLoad) this.#doublesTo = half;
      const first = isByLoad ? 0 : half;
      this.limit = Math.min(Math.max(this.#context.startLimit, first), this.#doublesTo);
      this.isReduced = false;
      this.#forget();
    }
    const { kind, connection, status, timedOut } = completed.verdict ?? {};
    if (timedOut) this.#timedOut(completed, inFlight);
    if (timedOut || connection !== undefined) return false;
    // An error without a status may be that of the user's code.
    if (kind === undefined || (kind === 'failed' && status === undefined)) return true;
    return this.#answered(kind === 'ok', inFlight, tookMs);
  }

  /** @returns whether it is not late */
  #answered(isAccepted: boolean, inFlight: number, tookMs: number): boolean {
    this.#alone = MOST_ALONE;
    if (tookMs < this.#quickestMs) this.#quickestMs = tookMs;
    if (tookMs > LATE_PART * this.timeoutMs && tookMs > LATE_TIMES * this.#quickestMs) {
      this.#score = Math.max(0, this.#score);
      return false;
    }
    const least = -ANSWER * inFlight;
    this.#score = Math.max(least, this.#score - ANSWER);
    if (this.#score === least) this.#late.clear();
    // If more are in flight, they were sent before the last reduction.
    if (isAccepted && inFlight === Math.floor(this.limit)) {
      this.limit += this.limit < this.#doublesTo ? 1 : Math.max(1 / this.limit, GROWTH);
    }
    return true;
  }

  /** If the number in flight is the cause, the timeout uses up no attempt of its request. */
  #timedOut(completed: CompletedAttempt, inFlight: number): void {
    if (this.#alone === 0) return;
    if (inFlight > this.limit) excuse(completed);
    else if (this.limit < 2) {
      this.#alone -= 1;
      if (this.#alone > 0) excuse(completed);
      else this.limit = Number.POSITIVE_INFINITY;
    } else if (!this.#late.has(completed)) {
      this.#late.add(completed);
      this.#score += 1;
      if (this.#score >= OVERLOAD) this.#reduce();
    }
  }

  #reduce(): void {
    const most = Math.min(this.limit, this.#most);
    // With a single attempt in flight, their number cannot be the cause.
    if (most > 1) {
      for (const late of this.#late) excuse(late);
      this.#doublesTo = most / 2;
      this.limit = 1;
      this.isReduced = true;
    }
    this.#forget();
  }

  #forget(): void {
    this.#late.clear();
    this.#score = 0;
    this.#most = 0;
  }

  get #outagesSoFar(): number {
    return this.#context.backoff?.outage.count ?? 0;
  }
}

function excuse(completed: CompletedAttempt): void {
  completed.excused = (completed.excused ?? 0) + 1;
}
