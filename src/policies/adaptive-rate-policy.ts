import type { Verdict } from '../model/feedback.ts';
import type { GateKind } from '../model/outcome.ts';
import type { Emit } from '../model/policy-events.ts';
import { FirstAttempts } from './adaptive-rate/first-attempts.ts';
import { RateLearner } from './adaptive-rate/rate-learner.ts';
import { NOTHING_KNOWN, type RateSnapshot } from './adaptive-rate/rate-snapshot.ts';
import type { Sending } from './adaptive-rate/sending.ts';
import type { HardLimits } from './adaptive-rate/unit-rates.ts';
import type { CompletedAttempt, Policy, RequestCost, Time } from './policy.ts';
import { RateEvents } from './rate-events.ts';

/** The rate and the concurrency limit in force. */
export interface AdaptiveRateSnapshot extends RateSnapshot {
  /** The greatest number of requests in flight. */
  readonly limit: number;
}

/** The charge of an attempt. While the policy sleeps, it is the number of the attempt. */
export type RateCharge = Sending | number;

/** The values and callbacks that the policy gets from the gate around it. */
export interface RateSurroundings {
  /** The rates of configured limits, per ms. */
  readonly hard: HardLimits;
  /** The initial and the greatest number of attempts in flight. */
  readonly startLimit: number;
  /** A rate that was learned before, per ms; undefined: none was. */
  readonly startPerMs?: number | undefined;
  readonly maxLimit: number;
  /** The longest wait that the correction of a named wait may give, in ms. */
  readonly maxRetryAfterMs: number;
  /** Sets the concurrency limit. */
  readonly apply: (limit: number) => void;
  /** Called with the presumed end of a wait that rejections named. */
  readonly correct: (until: number) => void;
  readonly emit: Emit;
}

/** How long after a rejection the learned state is kept without requests. */
const LEARNED_FOR_MS = 60_000;

/**
 * Holds attempts back to the rate that the provider accepts. It sleeps until the first rejection or
 * reported limit: until then a charge is the number of its attempt, and the policy only lets the
 * number in flight double with every round of answers.
 */
export class AdaptiveRatePolicy implements Policy<RateCharge> {
  readonly #around: RateSurroundings;
  readonly #events: RateEvents;
  #learner: RateLearner | undefined = undefined;
  /** The attempts in flight when it woke up, by charge. */
  readonly #early = new Map<number, Sending>();
  /** The attempts that were sent while it slept. */
  readonly #first = new FirstAttempts();
  #hasWaited = false;
  #inFlight = 0;
  #limit: number;
  #maxLimit: number;
  #wasOut = false;
  /** The charge of the last attempt that tested the end of a configured window. */
  #test: RateCharge | undefined = undefined;
  #rejectedAt = Number.NEGATIVE_INFINITY;
  /** The end of the named wait that was reported last. */
  #namedUntil = Number.NEGATIVE_INFINITY;
  /** When the last reported rate was measured. */
  #adaptedAt: number | undefined = undefined;
  /** The source of a rate that is learned elsewhere; undefined: this policy learns it. */
  #elsewhere: ((now: number) => RateSnapshot) | undefined = undefined;

  constructor(around: RateSurroundings) {
    this.#around = around;
    this.#events = new RateEvents(around.emit);
    this.#maxLimit = around.maxLimit;
    this.#limit = Math.min(around.startLimit, around.maxLimit);
  }

  get readsUsage(): boolean {
    return true;
  }

  /** Attempts that may be in flight. */
  get limit(): number {
    return this.#limit;
  }

  /** The cause of the last attempt's wait. */
  get binding(): GateKind {
    return this.#inFlight >= this.#limit ? 'concurrency' : 'pace';
  }

  /** The initial limit of attempts in flight. */
  get startLimit(): number {
    return this.#around.startLimit;
  }

  /** Creates a learner with the configuration of this policy, for attempts that others send. */
  newLearner<L extends RateLearner>(
    Learner: new (...options: ConstructorParameters<typeof RateLearner>) => L,
    reactionMs: number,
    now: number,
  ): L {
    const { hard, startLimit, startPerMs, maxRetryAfterMs } = this.#around;
    const learner = new Learner(hard, undefined, maxRetryAfterMs, startLimit, reactionMs);
    if (startPerMs !== undefined) learner.begin(startPerMs, now);
    return learner;
  }

  /**
   * The rate is learned and enforced elsewhere, for a fleet: from now on this policy admits
   * everything, and only shows that rate.
   */
  follow(elsewhere: (now: number) => RateSnapshot): void {
    this.#elsewhere = elsewhere;
    this.#limit = this.#maxLimit;
  }

  /** Whether nothing is in flight, and nothing learned is worth keeping. */
  isAtRest(now: number): boolean {
    return this.#inFlight === 0 && now - this.#rejectedAt >= LEARNED_FOR_MS;
  }

  setMaxLimit(maxLimit: number): void {
    const isOpen = this.#limit >= this.#maxLimit;
    this.#maxLimit = maxLimit;
    this.#limit = isOpen ? maxLimit : Math.min(this.#limit, maxLimit);
  }

  wait(request: RequestCost, now: number): number {
    if (this.#elsewhere !== undefined) return 0;
    const learner = this.#learner;
    // Retries hold slots already: a lower limit must stop them too.
    if (this.#inFlight >= this.#limit) {
      this.#hasWaited = true;
      return Number.POSITIVE_INFINITY;
    }
    if (learner === undefined) return 0;
    const from = learner.perSecond;
    const tokens = learner.countsTokens ? request.tokens : 0;
    const waitMs = learner.wait(now, tokens);
    return this.#lookAt(learner, from, now) ? learner.wait(now, tokens) : waitMs;
  }

  take(request: RequestCost, now: number): RateCharge {
    if (this.#elsewhere !== undefined) return 0;
    const charge = this.#charge(request, now);
    if (this.#around.hard.isTest?.(now) === true) this.#test = charge;
    return charge;
  }

  #charge(request: RequestCost, now: number): RateCharge {
    this.#inFlight += 1;
    const { startPerMs } = this.#around;
    if (startPerMs !== undefined && this.#learner === undefined) {
      this.#learner = this.#wake();
      this.#learner.begin(startPerMs, now);
    }
    const learner = this.#learner;
    if (learner !== undefined) {
      const hasRoom = !this.#hasWaited && this.#inFlight < this.#limit;
      this.#hasWaited = false;
      return learner.take(learner.countsTokens ? request.tokens : 0, now, hasRoom);
    }
    // Each answer makes room for two.
    const isUnasked = !this.#hasWaited && this.#inFlight < this.#limit - 1;
    this.#hasWaited = false;
    return this.#first.add(now, isUnasked);
  }

  giveBack(charge: RateCharge, completed: CompletedAttempt, time: Time): void {
    this.#inFlight -= 1;
    if (charge === this.#test) {
      this.#test = undefined;
      if (isBareRejection(completed.verdict)) {
        this.#endTest(charge, time);
        return;
      }
    }
    if (this.#learner === undefined && !this.#tellsSomething(completed.verdict)) {
      if (typeof charge === 'number') this.#endFirst(charge, completed.isSent, time);
      return;
    }
    const now = time.now();
    const learner = this.#learner ?? this.#wake();
    const sending = this.#sendingOf(charge);
    if (sending === undefined) return;
    const from = learner.perSecond;
    this.#ended(learner, sending, completed, now);
    this.#lookAt(learner, from, now);
  }

  /**
   * Another sender got this answer: a rejection counts as that of an attempt that was sent just
   * now.
   */
  hear(verdict: Verdict, now: number): void {
    const { kind } = verdict;
    if (this.#elsewhere !== undefined || (kind !== 'throttled' && kind !== 'overloaded')) return;
    const learner = this.#learner ?? this.#wake();
    const from = learner.perSecond;
    this.#rejectedAt = now;
    learner.hear(verdict, now);
    this.#correct(learner, verdict);
    this.#lookAt(learner, from, now);
  }

  /**
   * Removes a named wait that is only the reset time of a limit, if that limit admits requests
   * earlier.
   */
  understand(verdict: Verdict): Verdict {
    if (this.#learner?.isOnlyReset(verdict) !== true) return verdict;
    const { retryAfterMs: _, ...others } = verdict;
    return others;
  }

  /** The verdict with its true wait, if waits named earlier have proved too long. */
  corrected(verdict: Verdict): Verdict {
    const scale = this.#learner?.waitScale ?? 1;
    const { retryAfterMs } = verdict;
    if (scale >= 1 || retryAfterMs === undefined || verdict.outage !== undefined) return verdict;
    return { ...verdict, retryAfterMs: retryAfterMs * scale };
  }

  snapshot(now: number): AdaptiveRateSnapshot {
    const known = this.#elsewhere?.(now) ?? this.#learner?.snapshot(now) ?? NOTHING_KNOWN;
    return { limit: Math.min(this.#limit, known.cap ?? this.#limit), ...known };
  }

  /** When a request in flight is next presumed to be accepted, so that one more may go. */
  get nextChangeAt(): number {
    return this.#isOpening ? this.#first.nextAt : Number.POSITIVE_INFINITY;
  }

  advance(now: number): void {
    const more = this.#isOpening ? this.#first.presume(now) : 0;
    if (more > 0) this.#setLimit(Math.min(this.#maxLimit, this.#limit + more));
  }

  /** Whether the number in flight still doubles. */
  get #isOpening(): boolean {
    return this.#learner === undefined && this.#limit < this.#maxLimit;
  }

  /** The end of a window was later than expected: the rejection shows nothing about the rate. */
  #endTest(charge: RateCharge, time: Time): void {
    const sending = this.#sendingOf(charge);
    if (sending !== undefined) this.#learner?.withdrawn(sending, true, time.now());
    else if (typeof charge === 'number') this.#first.ended(charge, this.#inFlight === 0);
  }

  /**
   * An attempt has ended while it sleeps. The clock is read only while the number in flight grows.
   */
  #endFirst(charge: number, isSent: boolean, time: Time): void {
    this.#first.ended(charge, this.#inFlight === 0);
    if (!this.#isOpening || !isSent) return;
    if (this.#first.answered(charge, time.now())) this.#setLimit(this.#limit + 1);
  }

  /**
   * The attempt of a charge; undefined: the policy sleeps, or the attempt was sent too long before
   * the first rejection to be remembered.
   */
  #sendingOf(charge: RateCharge): Sending | undefined {
    if (typeof charge !== 'number') return charge;
    const sending = this.#early.get(charge);
    this.#early.delete(charge);
    return sending;
  }

  #wake(): RateLearner {
    const { out } = this.#first;
    const past = this.#first.past(out.length);
    const learner = new RateLearner(this.#around.hard, past, this.#around.maxRetryAfterMs);
    for (const [charge, at] of out) this.#early.set(charge, learner.early(at));
    this.#learner = learner;
    // The next attempt has waited for a place, although the limit rises now.
    this.#hasWaited ||= this.#inFlight + 1 >= this.#limit;
    return learner;
  }

  #ended(learner: RateLearner, sending: Sending, completed: CompletedAttempt, now: number): void {
    const { isSent, verdict, usage } = completed;
    if (!isSent || verdict === undefined || verdict.kind === 'failed') {
      learner.withdrawn(sending, isSent, now);
    } else if (verdict.kind !== 'throttled' && verdict.kind !== 'overloaded') {
      learner.answered(sending, verdict, usage?.tokens, now);
    } else {
      this.#rejectedAt = now;
      learner.rejected(sending, verdict, now);
    }
    this.#correct(learner, verdict);
  }

  /**
   * Corrects the time at which the closed backoff gate opens, when the learner has corrected the
   * wait that a rejection named.
   */
  #correct({ namedUntil }: RateLearner, verdict: Verdict | undefined): void {
    if (namedUntil === this.#namedUntil && verdict?.retryAfterMs === undefined) return;
    this.#namedUntil = namedUntil;
    this.#around.correct(namedUntil);
  }

  /** Whether an answer wakes the policy up: a rejection, or a report of limits. */
  #tellsSomething(verdict: Verdict | undefined): boolean {
    if (verdict === undefined) return false;
    const { kind, limits } = verdict;
    return kind === 'throttled' || kind === 'overloaded' || limits !== undefined;
  }

  /**
   * Applies the learned limit, and emits events for changes.
   * @param fromPerSecond the rate before
   * @returns whether it emitted any: a listener may have sent requests
   */
  #lookAt(learner: RateLearner, fromPerSecond: number, now: number): boolean {
    const events = this.#events;
    const hasAdapted = this.#adaptedAt !== learner.measuredAt;
    this.#adaptedAt = learner.measuredAt;
    if (hasAdapted) {
      events.measured(fromPerSecond, learner.measuredPerSecond ?? fromPerSecond, now);
    }
    const hasDrifted = !hasAdapted && events.drifted(learner, now);
    const limit = Math.min(this.#maxLimit, learner.limit ?? this.#maxLimit);
    const from = this.#limit;
    const hasMoved = limit !== from;
    if (hasMoved) {
      this.#setLimit(limit);
      events.limited(from, limit, now);
    }
    const hasTurned = this.#wasOut !== learner.isOut;
    this.#wasOut = learner.isOut;
    if (hasTurned) events.outage(learner.isOut, now);
    return hasAdapted || hasDrifted || hasMoved || hasTurned;
  }

  #setLimit(limit: number): void {
    this.#limit = limit;
    this.#around.apply(limit);
  }
}

/** Whether an answer is a 429 that reports no limits. */
function isBareRejection(verdict: Verdict | undefined): boolean {
  return verdict?.kind === 'throttled' && verdict.limits === undefined;
}
