import { isRejection, type Verdict } from '../model/feedback.ts';
import type { GateKind } from '../model/outcome.ts';
import type { Emit } from '../model/policy-events.ts';
import { FirstAttempts } from './adaptive-rate/attempts/first-attempts.ts';
import { PRESUMED_MS } from './adaptive-rate/attempts/send-history.ts';
import { NOTHING_KNOWN, type RateSnapshot } from './adaptive-rate/rate-snapshot.ts';
import { Congestion, type CongestionContext } from './congestion/congestion.ts';
import { LearnedRate, type LearnedRateContext, type RateCharge } from './learned-rate.ts';
import {
  type CompletedAttempt,
  LEARNED_FOR_MS,
  type Policy,
  type RequestCost,
  type Time,
} from './policy.ts';
import { RateEvents } from './rate-events.ts';

/** The rate and the concurrency limit in force. */
export interface AdaptiveRateSnapshot extends RateSnapshot {
  /** The greatest number of requests in flight. */
  readonly limit: number;
}

/** The values and callbacks that the policy gets from the gate around it. */
export interface AdaptiveRateContext extends LearnedRateContext, CongestionContext {
  /** The greatest number of attempts in flight. */
  readonly maxLimit: number;
  /** A rate that was learned before, per ms; undefined: none was. */
  readonly startPerMs?: number | undefined;
  /** Sets the concurrency limit. */
  readonly apply: (limit: number) => void;
  readonly emit: Emit;
}

/** Attempts that time out sooner are not presumed to be accepted: their answers come soon enough. */
const PRESUMING_TIMEOUT_MS = 4 * PRESUMED_MS;

/** The rate of a fleet, which this policy shows. */
export interface FollowedRate {
  snapshot(now: number): RateSnapshot;
  /** The true waits as a share of those that rejections name. */
  readonly waitShare: number;
}

/**
 * Holds attempts back to the rate that the provider accepts. Before the first rejection or reported
 * limit nothing is learned: a charge is the number of its attempt, and the number in flight may
 * double with every round of answers (slow start). Then a {@link LearnedRate} decides.
 */
export class AdaptiveRatePolicy implements Policy<RateCharge> {
  readonly #context: AdaptiveRateContext;
  readonly #events: RateEvents;
  /** The attempts of the slow start. */
  readonly #first = new FirstAttempts();
  /** Undefined during the slow start. */
  #learned: LearnedRate | undefined = undefined;
  /** The source of a rate that a fleet learns and enforces; undefined: this policy does. */
  #followed: FollowedRate | undefined = undefined;
  readonly #congestion: Congestion;
  #inFlight = 0;
  /** The limit apart from the maximum, which may be raised later; Infinity: there is none. */
  #ownLimit: number;
  #maxLimit: number;
  /** Whether an attempt waited for a place since the last one was sent. */
  #hasWaited = false;
  /** The charge of the last attempt that tested the end of a configured window. */
  #test: RateCharge | undefined = undefined;

  constructor(context: AdaptiveRateContext) {
    this.#context = context;
    this.#events = new RateEvents(context.emit);
    this.#congestion = new Congestion(context);
    this.#maxLimit = context.maxLimit;
    this.#ownLimit = context.startLimit;
  }

  get readsUsage(): boolean {
    return true;
  }

  /** Attempts that may be in flight. */
  get limit(): number {
    return this.#congestion.isReduced ? this.#most : this.#limit;
  }

  /** The cause of the last attempt's wait. */
  get binding(): GateKind {
    return this.#isFull ? 'concurrency' : 'pace';
  }

  /** What it was made with, for the learner of a fleet. */
  get context(): AdaptiveRateContext {
    return this.#context;
  }

  /** From now on this policy admits everything: it shows the rate of a fleet and corrects waits. */
  follow(followed: FollowedRate): void {
    this.#followed = followed;
    this.#ownLimit = Number.POSITIVE_INFINITY;
  }

  /** Whether nothing is in flight, and nothing learned is worth keeping. */
  isAtRest(now: number): boolean {
    const { rejectedAt = Number.NEGATIVE_INFINITY } = this.#learned ?? {};
    return this.#inFlight === 0 && now - rejectedAt >= LEARNED_FOR_MS;
  }

  /** Changes the maximum. A raised one admits no more than was learned, or than the start does. */
  setMaxLimit(maxLimit: number): void {
    this.#maxLimit = maxLimit;
  }

  wait(request: RequestCost, now: number): number {
    // Retries hold slots already: a lower limit must stop them too.
    if (this.#isFull) {
      this.#hasWaited = true;
      return Number.POSITIVE_INFINITY;
    }
    return this.#learned === undefined ? 0 : this.#learned.wait(request, now);
  }

  /** Milliseconds until the present rate lets the next attempt pass; 0 if no rate is known. */
  plannedMs(now: number): number {
    return this.#learned?.plannedMs(0, now) ?? 0;
  }

  take(request: RequestCost, now: number): RateCharge {
    if (this.#followed !== undefined) return 0;
    const charge = this.#charge(request, now);
    if (this.#context.hard.isTest?.(now)) this.#test = charge;
    return charge;
  }

  giveBack(charge: RateCharge, completed: CompletedAttempt, time: Time): void {
    const congestion = this.#congestion;
    const { limit, isReduced } = congestion;
    const before = this.#most;
    this.#learn(charge, completed, time);
    if (congestion.limit === limit && congestion.isReduced === isReduced) return;
    this.#context.apply(this.limit);
    this.#events.bounded(before, this.#most, time.now());
  }

  begun(charge: RateCharge, verdict: Verdict, time: Time): void {
    if (this.#followed !== undefined) return;
    if (this.#learned !== undefined || isFirstLesson(verdict)) {
      this.#learnedRate().begun(charge, verdict, time.now());
    } else if (this.#isOpening && typeof charge === 'number') {
      // It makes room for two until it ends, and then for one more beside itself.
      if (this.#first.begun(charge, time.now())) this.#setLimit(this.#limit + 2);
    }
  }

  #learn(charge: RateCharge, completed: CompletedAttempt, time: Time): void {
    const { verdict } = completed;
    const sentAt = this.#sentAt(charge);
    const isOpening = this.#isOpening;
    const makesRoom = this.#congestion.ended(completed, this.#inFlight, sentAt, isOpening, time);
    this.#inFlight -= 1;
    if (charge === this.#test) {
      this.#test = undefined;
      // The end of a window was later than expected: the rejection shows nothing about the rate.
      if (verdict?.kind === 'throttled' && verdict.limits === undefined) {
        if (this.#learned !== undefined) this.#learned.withdraw(charge, time.now());
        else this.#endFirst(charge, false, time);
        return;
      }
    }
    if (this.#learned === undefined && !isFirstLesson(verdict)) {
      this.#endFirst(charge, completed.isSent && makesRoom, time);
    } else this.#learnedRate().giveBack(charge, completed, time.now());
  }

  /** Another sender got this answer. */
  hear(verdict: Verdict, now: number): void {
    if (this.#followed === undefined && isRejection(verdict)) {
      this.#learnedRate().hear(verdict, now);
    }
  }

  /** The meaning of a rejection, as {@link LearnedRate.understand} says. */
  understand(verdict: Verdict): Verdict {
    return this.#learned?.understand(verdict) ?? verdict;
  }

  /** The verdict with its true wait, if waits named earlier have proved too long. */
  corrected(verdict: Verdict): Verdict {
    const share = this.#followed?.waitShare ?? this.#learned?.waitShare ?? 1;
    const { retryAfterMs } = verdict;
    if (share >= 1 || retryAfterMs === undefined || verdict.outage !== undefined) return verdict;
    return { ...verdict, retryAfterMs: retryAfterMs * share };
  }

  snapshot(now: number): AdaptiveRateSnapshot {
    const known = this.#followed?.snapshot(now) ?? this.#learned?.snapshot(now) ?? NOTHING_KNOWN;
    return { limit: Math.min(this.#most, known.cap ?? this.#limit), ...known };
  }

  /** When a request in flight is next presumed to be accepted, so that one more may go. */
  get nextChangeAt(): number {
    return this.#presumes ? this.#first.nextAt : Number.POSITIVE_INFINITY;
  }

  advance(now: number): void {
    const more = this.#presumes ? this.#first.presume(now) : 0;
    if (more > 0) this.#setLimit(Math.min(this.#maxLimit, this.#limit + more));
  }

  get #limit(): number {
    return Math.min(this.#ownLimit, this.#maxLimit);
  }

  /** How many attempts may be in flight now. */
  get #most(): number {
    return Math.min(this.#limit, Math.floor(this.#congestion.limit));
  }

  get #isFull(): boolean {
    return this.#inFlight >= this.#most;
  }

  /** Whether attempts that take long are presumed to be accepted. */
  get #presumes(): boolean {
    return this.#isOpening && this.#congestion.timeoutMs > PRESUMING_TIMEOUT_MS;
  }

  /** Whether the limit of attempts in flight still doubles. */
  get #isOpening(): boolean {
    return this.#learned === undefined && this.#limit < this.#maxLimit;
  }

  #charge(request: RequestCost, now: number): RateCharge {
    this.#inFlight += 1;
    const { startPerMs } = this.#context;
    if (startPerMs !== undefined && this.#learned === undefined) {
      this.#learnedRate().begin(startPerMs, now);
    }
    const hasRoom = !this.#hasWaited && !this.#isFull;
    this.#hasWaited = false;
    if (this.#learned !== undefined) return this.#learned.take(request, now, hasRoom);
    // While the limit grows, each answer makes room for two.
    const isRoomOfAnswer = this.#isOpening && this.#inFlight >= this.#limit - 1;
    return this.#first.add(now, hasRoom && !isRoomOfAnswer);
  }

  /**
   * An attempt of the slow start has ended. The clock is read only while the number in flight
   * grows, or if each attempt leaves no room.
   */
  #endFirst(charge: RateCharge, makesRoom: boolean, time: Time): void {
    if (typeof charge !== 'number') return;
    const hadBegun = this.#first.ended(charge, this.#inFlight === 0);
    if (this.#maxLimit === 1) this.#first.rests(time.now());
    if (!this.#isOpening) return;
    if (hadBegun) this.#setLimit(this.#limit - 1);
    else if (makesRoom && this.#first.answered(charge, time.now())) this.#setLimit(this.#limit + 1);
  }

  #sentAt(charge: RateCharge): number {
    return typeof charge === 'number' ? this.#first.sentAt(charge) : charge.at;
  }

  /** The learned rate. Ends the slow start. */
  #learnedRate(): LearnedRate {
    if (this.#learned !== undefined) return this.#learned;
    const setLimit = (limit: number | undefined, now: number) => this.#moveLimit(limit, now);
    this.#learned = new LearnedRate(this.#context, this.#first, this.#events, setLimit);
    // The next attempt has waited for a place, although the limit rises now.
    this.#hasWaited ||= this.#inFlight + 1 >= this.#limit;
    return this.#learned;
  }

  /** @returns whether the limit changes */
  #moveLimit(learned = Number.POSITIVE_INFINITY, now: number): boolean {
    const from = this.#limit;
    this.#ownLimit = learned;
    const to = this.#limit;
    if (to === from) return false;
    this.#context.apply(this.limit);
    this.#events.limited(from, to, now);
    return true;
  }

  #setLimit(own: number): void {
    this.#ownLimit = own;
    this.#context.apply(this.limit);
  }
}

/** Whether an answer ends the slow start: a rejection, or a report of limits. */
function isFirstLesson(verdict: Verdict | undefined): boolean {
  return verdict !== undefined && (isRejection(verdict) || verdict.limits !== undefined);
}
