import type { AdaptationReason, Emit } from '../model/policy-events.ts';
import type { RateSnapshot } from './adaptive-rate/rate-snapshot.ts';

/** A change of the rate, or of a bound, by at least this share is reported. */
const DRIFT = 0.1;

/** Emits the changes of a learned rate, of its concurrency limit, and its outages. */
export class RateEvents {
  /** The rate that was reported last. */
  perSecond = Number.POSITIVE_INFINITY;
  readonly #emit: Emit;
  /** The bound on attempts in flight that was reported last; undefined: none was. */
  #bound: number | undefined = undefined;
  /** Whether the rate holds the next attempt back for long, which was reported. */
  #isLong = false;

  constructor(emit: Emit) {
    this.#emit = emit;
  }

  /** The rate was measured again. */
  measured(from: number, to: number, at: number): void {
    this.#adapted(from, to, 'rejected', at);
  }

  /** @returns whether the rate differs from the one reported last by a tenth, which is reported */
  drifted(rate: Pick<RateSnapshot, 'perSecond' | 'origin'>, at: number): boolean {
    const from = this.perSecond;
    const to = rate.perSecond;
    if (to === from || to === Number.POSITIVE_INFINITY) return false;
    if (Math.abs(to - from) < DRIFT * Math.min(to, from)) return false;
    const { origin } = rate;
    const isTold = origin === 'headers' || origin === 'limit';
    this.#adapted(from, to, isTold ? origin : to > from ? 'accepted' : 'estimate', at);
    return true;
  }

  /** The concurrency limit has moved. */
  limited(from: number, to: number, at: number): void {
    this.#emit({ kind: 'limitAdapted', at, reason: to < from ? 'rejected' : 'accepted', from, to });
  }

  /** Failures have lowered the number of attempts that may be in flight, or answers raise it again. */
  bounded(before: number, to: number, at: number): void {
    const from = this.#bound ?? before;
    if (Math.abs(to - from) < DRIFT * Math.min(to, from)) return;
    this.#bound = to;
    const reason = to < from ? 'failures' : 'accepted';
    this.#emit({ kind: 'limitAdapted', at, reason, from, to });
  }

  /**
   * The rate holds the next attempt back. Reports a long wait when it begins.
   * @param waitMs until the rate lets it pass
   * @param longMs longer waits are reported
   * @returns whether it was reported
   */
  held(waitMs: number, longMs: number, at: number): boolean {
    const wasLong = this.#isLong;
    this.#isLong = waitMs > longMs;
    if (!this.#isLong || wasLong) return false;
    this.#emit({ kind: 'rateHeld', at, untilAt: at + waitMs });
    return true;
  }

  /** An outage has begun, or ended. */
  outage(isOut: boolean, at: number): void {
    this.#emit({ kind: isOut ? 'outageStarted' : 'outageEnded', at, reason: 'rejected' });
  }

  #adapted(from: number, to: number, reason: AdaptationReason, at: number): void {
    this.perSecond = to;
    this.#emit({ kind: 'rateAdapted', at, reason, from, to });
  }
}
