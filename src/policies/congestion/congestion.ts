import { isRejection } from '../../model/feedback.ts';
import type { CompletedAttempt, Time } from '../policy.ts';
import { LoadEvidence, type LoadEvidenceContext } from './load-evidence.ts';

/**
 * Above half of the number that was too high, each answer makes room for this part of another. After
 * an outage it is smaller: no late answers show that the number comes near the bound.
 */
const GROWTH = 1 / 4;
const GROWTH_AFTER_OUTAGE = 1 / 16;

/** The start of a run, the outages so far, and the time in which attempts time out. */
export interface CongestionContext extends LoadEvidenceContext {
  /** The initial number of attempts in flight. */
  readonly startLimit: number;
  /** Counts outages; undefined: they are not known. */
  readonly backoff?: { readonly outage: { readonly count: number } } | undefined;
}

/**
 * Bounds the number of attempts in flight after an outage, and where it causes timeouts.
 *
 * After an outage all at once could overload the server again. The number begins at half of what it
 * was, and doubles with each round of answers. If another outage begins when it has reached its
 * bound, it may be the cause: then it begins as at the beginning of a run, doubles only up to half of
 * what it was, and rises slowly from there.
 *
 * A server that lets requests wait answers few of them in time when too many wait. Then the number
 * falls to half of those that it answers in time, and rises in the same way, as long as answers do
 * not take much longer.
 */
export class Congestion {
  /** Infinity: no bound is known. */
  limit = Number.POSITIVE_INFINITY;
  readonly #context: CongestionContext;
  readonly #load: LoadEvidence;
  /** The outages that the bound takes account of. */
  #outages: number;
  /** The most attempts in flight since the last outage or reduction. */
  #most = 0;
  /** Up to this number each answer makes room for one more. */
  #doublesTo = Number.POSITIVE_INFINITY;

  constructor(context: CongestionContext) {
    this.#context = context;
    this.#load = new LoadEvidence(context, (limit) => {
      this.limit = limit === Number.POSITIVE_INFINITY ? limit : Math.min(this.limit, limit);
      this.#doublesTo = this.#load.reducedFrom / 2;
    });
    this.#outages = this.#outagesSoFar;
  }

  /**
   * Whether timeouts have bounded the number, so that no more requests may begin. After an outage
   * others may begin: a request whose own connection breaks again and again fails.
   */
  get isReduced(): boolean {
    return this.#load.isReduced;
  }

  /** The time in which attempts time out; Infinity: not known. */
  get timeoutMs(): number {
    return this.#load.timeoutMs;
  }

  /**
   * An attempt has ended.
   * @param inFlight the number of attempts in flight, with this one
   * @param sentAt when it was sent; NaN: not known
   * @param isTimed whether the time of an answer matters
   * @returns whether it may make room for more: an answer has come, and not late
   */
  ended(
    completed: CompletedAttempt,
    inFlight: number,
    sentAt: number,
    isTimed: boolean,
    time: Time,
  ): boolean {
    this.#most = Math.max(this.#most, inFlight);
    if (this.#outagesSoFar > this.#outages) this.#restart();
    const { verdict } = completed;
    if (verdict === undefined || verdict.connection !== undefined) return verdict === undefined;
    if (verdict.timedOut) {
      this.#load.timedOut(completed, inFlight, sentAt, time.now());
      return false;
    }
    // An error without a status may be that of the user's code.
    if (isRejection(verdict) || (verdict.kind === 'failed' && verdict.status === undefined)) {
      return true;
    }
    const tookMs = isTimed || this.#load.isWatching ? time.now() - sentAt : Number.NaN;
    const isInTime = this.#load.answered(inFlight, sentAt, tookMs, time);
    // If more are in flight, they were sent before the outage or the reduction.
    if (isInTime && verdict.kind === 'ok' && inFlight === Math.floor(this.limit)) {
      const growth = this.isReduced ? GROWTH : GROWTH_AFTER_OUTAGE;
      this.limit += this.limit < this.#doublesTo ? 1 : Math.max(1 / this.limit, growth);
    }
    return isInTime;
  }

  /** An outage has begun. */
  #restart(): void {
    this.#outages = this.#outagesSoFar;
    const half = Math.max(1, this.#most / 2);
    // Only if the bound was reached, the number in flight may be the cause.
    const isByLoad = this.#most >= this.limit;
    if (isByLoad) this.#doublesTo = half;
    const first = isByLoad ? 0 : half;
    this.limit = Math.min(Math.max(this.#context.startLimit, first), this.#doublesTo);
    this.#most = 0;
    this.#load.forget();
  }

  get #outagesSoFar(): number {
    return this.#context.backoff?.outage.count ?? 0;
  }
}
