import { isRejection, type Verdict } from '../model/feedback.ts';
import type { FirstAttempts } from './adaptive-rate/attempts/first-attempts.ts';
import type { SentAttempt } from './adaptive-rate/attempts/sent-attempt.ts';
import { resetOf } from './adaptive-rate/limit-signs.ts';
import { RateLearner } from './adaptive-rate/rate-learner.ts';
import type { RateSnapshot } from './adaptive-rate/rate-snapshot.ts';
import { REASK_MS } from './adaptive-rate/sending-rate.ts';
import type { HardLimits } from './adaptive-rate/units/hard-limits.ts';
import type { CompletedAttempt, RequestCost } from './policy.ts';
import type { RateEvents } from './rate-events.ts';

/** The charge of an attempt. Before anything is learned, it is the number of the attempt. */
export type RateCharge = SentAttempt | number;

/** The values and callbacks that a learned rate gets from its gate. */
export interface LearnedRateContext {
  /** The rates of configured limits, per ms. */
  readonly hard: HardLimits;
  /** The longest wait that the correction of a named wait may give, in ms. */
  readonly maxRetryAfterMs: number;
  /** Whether the user has set how many requests are in flight at first. */
  readonly isStartSet?: boolean;
  /** Called with the presumed end of a wait that rejections named. */
  readonly correct: (until: number) => void;
}

/**
 * What is learned from the first rejection or reported limit on. It passes the results of attempts
 * to a {@link RateLearner}, and applies and reports the changes of the rate, of the concurrency
 * limit, and of named waits.
 */
export class LearnedRate {
  /** When the last attempt was rejected. */
  rejectedAt = Number.NEGATIVE_INFINITY;
  readonly #context: LearnedRateContext;
  readonly #events: RateEvents;
  readonly #setLimit: (limit: number | undefined, now: number) => boolean;
  readonly #learner: RateLearner;
  /** The attempts in flight when learning began, by charge. */
  readonly #early: Map<number, SentAttempt>;
  #wasOut = false;
  /** The end of the named wait that was reported last. */
  #namedUntil = Number.NEGATIVE_INFINITY;
  /** When the last reported rate was measured. */
  #adaptedAt: number | undefined = undefined;

  /**
   * @param first the attempts so far
   * @param setLimit sets the limit of attempts in flight; undefined: none was learned. Returns
   *   whether that is a change
   */
  constructor(
    context: LearnedRateContext,
    first: FirstAttempts,
    events: RateEvents,
    setLimit: (limit: number | undefined, now: number) => boolean,
  ) {
    const { out } = first;
    const learner = new RateLearner(context.hard, first.past(out.length), context.maxRetryAfterMs);
    if (context.isStartSet) learner.keepStart();
    this.#context = context;
    this.#events = events;
    this.#setLimit = setLimit;
    this.#learner = learner;
    this.#early = new Map(out.map(([charge, at]) => [charge, learner.early(at)]));
  }

  /** Begins with a rate that was learned before, per ms. */
  begin(perMs: number, now: number): void {
    this.#learner.begin(perMs, now);
  }

  wait(request: RequestCost, now: number): number {
    const learner = this.#learner;
    const from = learner.rate.perSecond;
    const tokens = this.#tokensOf(request);
    const waitMs = learner.wait(now, tokens);
    const plannedMs = waitMs < REASK_MS ? waitMs : this.plannedMs(tokens, now);
    const isTold = this.#events.held(plannedMs, this.#context.maxRetryAfterMs, now);
    return this.#apply(from, now) || isTold ? learner.wait(now, tokens) : waitMs;
  }

  /** Milliseconds until the present rates let an attempt of these tokens pass. */
  plannedMs(tokens: number, now: number): number {
    return this.#learner.plannedMs(tokens, now);
  }

  /** @param hasRoom whether the attempt did not wait, and another one may be in flight with it */
  take(request: RequestCost, now: number, hasRoom: boolean): SentAttempt {
    if (this.#learner.rate.units.countParts) request.needsParts = true;
    return this.#learner.take(this.#tokensOf(request), now, hasRoom);
  }

  /** An attempt has ended. */
  giveBack(charge: RateCharge, completed: CompletedAttempt, now: number): void {
    const sending = this.#sendingOf(charge);
    if (sending === undefined) return;
    const learner = this.#learner;
    const from = learner.rate.perSecond;
    const { isSent, verdict, usage } = completed;
    if (!isSent || verdict === undefined || verdict.kind === 'failed') {
      learner.withdrawn(sending, isSent, now);
    } else if (isRejection(verdict)) {
      this.rejectedAt = now;
      learner.rejected(sending, verdict, now);
    } else learner.answered(sending, verdict, usage, now);
    this.#correct(verdict);
    this.#apply(from, now);
  }

  /** The answer to an attempt has begun, so it was accepted; it has not ended yet. */
  begun(charge: RateCharge, { limits }: Verdict, now: number): void {
    const sending = typeof charge === 'number' ? this.#early.get(charge) : charge;
    if (sending === undefined) return;
    const from = this.#learner.rate.perSecond;
    this.#learner.begun(sending, limits, now);
    this.#apply(from, now);
  }

  /** An attempt has ended that is no evidence. */
  withdraw(charge: RateCharge, now: number): void {
    const sending = this.#sendingOf(charge);
    if (sending !== undefined) this.#learner.withdrawn(sending, true, now);
  }

  /** Another sender was rejected: counts as the rejection of an attempt that was sent just now. */
  hear(verdict: Verdict, now: number): void {
    const from = this.#learner.rate.perSecond;
    this.rejectedAt = now;
    this.#learner.hear(verdict, now);
    this.#correct(verdict);
    this.#apply(from, now);
  }

  /**
   * Removes a named wait that is only the reset time of a limit, if that limit admits requests
   * earlier.
   */
  understand(verdict: Verdict): Verdict {
    const limit = resetOf(verdict);
    const isOnlyReset = limit !== undefined && this.#learner.rate.units.refillsGradually(limit);
    if (!isOnlyReset) return verdict;
    const { retryAfterMs: _, ...others } = verdict;
    return others;
  }

  /** The true waits as a share of those that rejections name. */
  get waitShare(): number {
    return this.#learner.closed.named.scale;
  }

  snapshot(now: number): RateSnapshot {
    return this.#learner.snapshot(now);
  }

  /** The estimated tokens; 0 where they are not limited, so that they are not estimated. */
  #tokensOf(request: RequestCost): number {
    return this.#learner.rate.units.countTokens ? request.tokens : 0;
  }

  /** Undefined: the attempt was sent too long before the first rejection to be remembered. */
  #sendingOf(charge: RateCharge): SentAttempt | undefined {
    if (typeof charge !== 'number') return charge;
    const sending = this.#early.get(charge);
    this.#early.delete(charge);
    return sending;
  }

  /**
   * Corrects the time at which the closed backoff gate opens, when the learner has corrected the
   * wait that a rejection named.
   */
  #correct(verdict: Verdict | undefined): void {
    const namedUntil = this.#learner.closed.named.until;
    if (namedUntil === this.#namedUntil && verdict?.retryAfterMs === undefined) return;
    this.#namedUntil = namedUntil;
    this.#context.correct(namedUntil);
  }

  /**
   * Applies the learned limit, and emits events for changes.
   * @param fromPerSecond the rate before
   * @returns whether it emitted any: a listener may have sent requests
   */
  #apply(fromPerSecond: number, now: number): boolean {
    const events = this.#events;
    const { cap, closed, rate } = this.#learner;
    const hasAdapted = this.#adaptedAt !== rate.measuredAt;
    this.#adaptedAt = rate.measuredAt;
    if (hasAdapted) events.measured(fromPerSecond, rate.measuredPerSecond ?? fromPerSecond, now);
    const hasDrifted = !hasAdapted && events.drifted(rate, now);
    const hasMoved = this.#setLimit(cap.limit, now);
    const { isOut } = closed;
    const hasTurned = this.#wasOut !== isOut;
    this.#wasOut = isOut;
    if (hasTurned) events.outage(isOut, now);
    return hasAdapted || hasDrifted || hasMoved || hasTurned;
  }
}
