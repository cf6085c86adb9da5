import type { Mode } from '../model/feedback.ts';
import { DEFAULT_OUTAGE_MS, Outage, type OutageSnapshot, Probes } from './outage.ts';
import type { ModeState, Policy, RequestCost } from './policy.ts';

/**
 * `probe`: one request is sent first, the others after it succeeded. `all`: all are sent at once.
 */
export type Reopen = 'probe' | 'all';

/**
 * What happens when the provider takes no requests for longer than `maxRetryAfterMs`: all requests
 * fail, or all wait.
 */
export type OnLongWait = 'fail' | 'wait';

/** Why the provider takes no requests for long. */
export type SuspensionReason = 'longWait' | 'quota' | 'billing';

/** The decision for the time in which the provider takes no requests. */
export interface SuspensionSnapshot {
  readonly reason: SuspensionReason;
  /** Whether requests fail or wait during that time. */
  readonly onLongWait: OnLongWait;
  /** Until a request is sent again, in ms. */
  readonly leftMs: number;
}

export interface BackoffSnapshot {
  /** `probing`: the wait is over, but no request has succeeded yet. */
  readonly state: 'open' | 'closed' | 'probing';
  readonly closedForMs: number;
  readonly mode: Mode;
  /** Backoffs and outages so far. */
  readonly epoch: number;
  /** Undefined if the provider takes requests, or will soon. */
  readonly suspended: SuspensionSnapshot | undefined;
  /** Undefined if the provider can be reached. */
  readonly outage: OutageSnapshot | undefined;
}

/** A decision for a long wait. */
interface Suspended {
  readonly reason: SuspensionReason;
  readonly onLongWait: OnLongWait;
  readonly untilAt: number;
}

/**
 * Decides when to send again after a 429, and keeps throttled mode.
 *
 * A backoff is only extended, never shortened, unless the wait that caused it proves wrong. An
 * epoch is the time between two backoffs. Answers to attempts of an earlier epoch belong to the
 * earlier backoff: a rejection starts no new epoch, and a success does not open the gate.
 */
export class Backoff implements Policy<number>, ModeState {
  /** Closed until this time of the clock. */
  until = Number.NEGATIVE_INFINITY;
  throttledUntil = Number.NEGATIVE_INFINITY;
  /**
   * The sender whose rejection last extended the closure, and when the closure would have ended
   * without it.
   */
  #closer: object | undefined = undefined;
  #otherwiseUntil = Number.NEGATIVE_INFINITY;
  epoch = 0;
  /** Whether an adaptive rate finds that the provider rejects everything. */
  isRejecting = false;
  readonly outage: Outage;
  /** Called when an outage has lasted for `outageMs`: waiting requests must fail. */
  onOutageOver: (() => void) | undefined = undefined;
  /** Attempts of an earlier epoch were sent before an outage whose waiting requests have failed. */
  #overEpoch = 0;
  #suspension: Suspended | undefined = undefined;
  /** Set from a 429 until a request of the present epoch has succeeded. */
  #untested = false;
  /**
   * Whether requests are sent as single probes: after a 429, or in an outage. A field, because it
   * is read for each request.
   */
  #isGuarded = false;
  readonly #probes = new Probes();
  /** Called when no probe is in flight any more. */
  onProbeBack: (() => void) | undefined = undefined;
  #reopen: Reopen;
  #throttledForMs: number;

  constructor(reopen: Reopen, throttledForMs: number, outageMs = DEFAULT_OUTAGE_MS) {
    this.outage = new Outage(outageMs);
    this.#reopen = reopen;
    this.#throttledForMs = throttledForMs;
  }

  /** Sets these rules from the next rejection on. */
  configure(reopen: Reopen, throttledForMs: number): void {
    this.#reopen = reopen;
    this.#throttledForMs = throttledForMs;
  }

  /** Whether an answer may open the gate before the wait is over. */
  get mayOpenEarly(): boolean {
    return this.#probes.isOut || this.outage.isOn;
  }

  /** Whether a successful answer may change anything. */
  get isDoubted(): boolean {
    return this.#untested || this.outage.isDoubted;
  }

  wait(_request: RequestCost, now: number): number {
    if (this.#isGuarded) return this.#waitForProbe(now);
    return now < this.until ? this.until - now : 0;
  }

  take(_request: RequestCost, now: number): number {
    return this.#isGuarded ? this.#probes.send(now) : 0;
  }

  /** A probe has ended. If it did not open the gate, the next request is the probe. */
  giveBack(probe: number): void {
    if (this.#probes.ended(probe)) this.onProbeBack?.();
  }

  snapshot(now: number): BackoffSnapshot {
    const closedForMs = Math.max(0, this.until - now);
    return {
      state: closedForMs > 0 ? 'closed' : this.#isGuarded ? 'probing' : 'open',
      closedForMs,
      mode: this.modeAt(now),
      epoch: this.epoch,
      suspended: this.suspended(now),
      outage: this.outage.snapshot(now),
    };
  }

  modeAt(now: number): Mode {
    if (this.hasOutage) return 'outage';
    return now < this.throttledUntil ? 'throttled' : 'normal';
  }

  /** Whether the provider cannot be reached, or rejects everything. */
  get hasOutage(): boolean {
    return this.isRejecting || this.outage.isOn;
  }

  /** The decision for a long wait that is not over. */
  suspended(now: number): SuspensionSnapshot | undefined {
    if (this.#suspension === undefined) return undefined;
    const { reason, onLongWait, untilAt } = this.#suspension;
    const leftMs = untilAt - now;
    return leftMs > 0 ? { reason, onLongWait, leftMs } : undefined;
  }

  /** The provider takes no requests until the present closure ends; then one request tests that. */
  suspend(reason: SuspensionReason, onLongWait: OnLongWait): void {
    this.#suspension = { reason, onLongWait, untilAt: this.until };
    this.#closer = undefined;
    this.#guard(true);
  }

  /**
   * A connection of an attempt failed.
   * @param isRefused whether no connection was made: then only the answer to a later attempt can
   * prove that the provider is reached. After a reset, any answer does.
   * @returns whether an outage begins
   */
  unreachable(isRefused: boolean, now: number): boolean {
    const { outage } = this;
    if (isRefused && !outage.isRefused) {
      this.epoch += 1;
      outage.refused(this.epoch);
    }
    if (!outage.failed(now)) return false;
    if (!outage.isRefused) this.epoch += 1;
    outage.began(this.epoch);
    this.#probes.forget();
    this.#guard();
    return true;
  }

  /** The provider answered an attempt of `epoch`. @returns whether an outage ends */
  reached(epoch: number): boolean {
    const { outage } = this;
    const wasOut = outage.isOn;
    if (!outage.answered(epoch) || !wasOut) return false;
    this.#guard();
    return true;
  }

  /** Whether an attempt of `epoch` was sent before an outage whose waiting requests have failed. */
  isFromBefore(epoch: number): boolean {
    return epoch < this.#overEpoch;
  }

  /** The wait until the probe has ended, or until one may be sent. */
  #waitForProbe(now: number): number {
    const { outage } = this;
    const openAt = Math.max(this.until, outage.probeAt);
    const waitMs =
      now < openAt ? openAt - now : Math.max(0, this.#probes.nextAt(outage.isOn) - now);
    if (!outage.isOn) return waitMs;
    const leftMs = outage.leftMs(now);
    if (leftMs > 0) return Math.min(waitMs, leftMs);
    outage.restart(now);
    this.epoch += 1;
    this.#overEpoch = this.epoch;
    this.#probes.forget();
    this.onOutageOver?.();
    // This request fails next, with all other waiting requests.
    return Number.POSITIVE_INFINITY;
  }

  /**
   * The provider rejected an attempt of `epoch` and wants `waitMs` from `now`.
   * @param sender who sent the attempt, and may correct the wait
   * @returns whether it starts a new epoch, as the first rejection of the requests in flight does.
   */
  reject(waitMs: number, epoch: number, now: number, sender?: object): boolean {
    const until = now + waitMs;
    const isOther = sender !== this.#closer;
    if (until > this.until) {
      if (isOther) this.#otherwiseUntil = this.until;
      this.#closer = sender;
      this.until = until;
    } else if (isOther) this.#otherwiseUntil = Math.max(this.#otherwiseUntil, until);
    this.throttledUntil = this.until + this.#throttledForMs;
    this.#guard(this.#reopen === 'probe');
    if (epoch < this.epoch) return false;
    this.epoch += 1;
    // The result of an earlier epoch's probe proves nothing any more.
    this.#probes.forget();
    return true;
  }

  /**
   * The wait named to `sender`, for which the gate was closed, ends at `until` if that is earlier.
   */
  correct(sender: object, until: number): void {
    if (sender !== this.#closer || until >= this.until) return;
    this.throttledUntil -= this.until;
    this.until = Math.max(until, this.#otherwiseUntil);
    this.throttledUntil += this.until;
  }

  /** The provider asked to slow down, but the gate stays open: the sender's rate adapts. */
  throttle(now: number): void {
    this.throttledUntil = Math.max(this.throttledUntil, now + this.#throttledForMs);
  }

  /**
   * The provider accepted an attempt of `epoch`. That proves nothing for one of an earlier epoch,
   * nor while the gate is closed: the attempt was sent before. @returns whether it opens the gate
   */
  accept(epoch: number, now: number): boolean {
    if (!this.#untested || epoch < this.epoch || now < this.until) return false;
    this.#guard(false);
    // The accepted request may run for long, as a stream does: the next backoff must not wait for
    // its end.
    this.#probes.forget();
    return true;
  }

  /**
   * Called when an outage has begun or ended, or a request has to test the provider.
   * @param isUntested whether no request of this epoch has succeeded since a 429
   */
  #guard(isUntested = this.#untested): void {
    this.#untested = isUntested;
    this.#isGuarded = isUntested || this.outage.isOn;
  }
}
