import type { Timeouts } from '../../util/timers.ts';
import type { CompletedAttempt, Time } from '../policy.ts';
import { AttemptTimes } from './attempt-times.ts';

/**
 * So many timeouts of different requests, beyond those that answers make up for, show an overload.
 * An answer makes up for the part of the timeout that it has left.
 */
const OVERLOAD = 3;
/** This part of the attempts that are answered in time are sent: with all, each answer is late. */
const SAFE_PART = 1 / 2;
/** At least so many attempts are compared: fewer may time out by chance. */
const LEAST_ATTEMPTS = 8;
/** The trial lasts for at least so many timeouts: at first, only answers come. */
const TRIAL_TIMEOUTS = 2;
/** The trial has helped if so many times the part is answered in time: a little more may by chance. */
const GAIN = 1.5;
/** If even less is answered in time, the server may still work on requests that were given up. */
const LEAST_PART = 1 / 4;
/** If their number is not the cause, it is tested again after this many timeouts. */
const RETRY_TIMEOUTS = 40;
/** After this many timeouts of single attempts in a row, their number is not the cause. */
const MOST_ALONE = 8;
/** An answer that took this part of the timeout, and so many times as long as the first, is late. */
const LATE_PART = 1 / 2;
const LATE_TIMES = 1.5;
/** So many answers are the first: their mean says how long answers take with few in flight. */
const FIRST_ANSWERS = 8;

/** The time in which attempts time out. */
export interface LoadEvidenceContext {
  /** Undefined: it is not known beforehand. */
  readonly timeouts?: Pick<Timeouts, 'timeoutMs'> | undefined;
}

/**
 * Finds out whether the number of attempts in flight causes timeouts. Little's law: attempts that
 * spend more time in flight than one timeout for each answer cannot all be answered in time. Then
 * fewer are sent, as a trial. An overloaded server answers as many as before, so a greater part of
 * them is answered in time. If not, their number is not the cause.
 */
export class LoadEvidence {
  /** How many were in flight when the number was reduced, and at most in a row of reductions. */
  reducedFrom = 0;
  readonly #context: LoadEvidenceContext;
  readonly #setLimit: (limit: number) => void;
  /** How long the last attempt that timed out was in flight. */
  #timeoutMs = Number.NaN;
  /** The attempts of the last rounds, since the last reduction, and the requests that timed out. */
  #times = new AttemptTimes();
  readonly #late = new Set<CompletedAttempt>();
  /** The same before the last reduction, how many were in flight then, and when it was. */
  #timesBefore = new AttemptTimes();
  #inFlightBefore = 0;
  #reducedAt = Number.NEGATIVE_INFINITY;
  /** Whether it is not known yet if the reduction has helped. */
  #isTrial = false;
  /** Until then, the number in flight is not the cause, and which part was answered in time. */
  #dismissedUntil = Number.NEGATIVE_INFINITY;
  #dismissedPart = 0;
  /** How many more single attempts may time out. */
  #alone = MOST_ALONE;
  /** The first answers since the start or the last reduction. */
  #first = new AttemptTimes();

  /**
   * @param setLimit called with how many may be in flight at first, if their number causes
   * timeouts; with Infinity when it is found not to
   */
  constructor(context: LoadEvidenceContext, setLimit: (limit: number) => void) {
    this.#context = context;
    this.#setLimit = setLimit;
  }

  /** Whether timeouts have reduced the number in flight. */
  get isReduced(): boolean {
    return this.#reducedAt !== Number.NEGATIVE_INFINITY;
  }

  /** Whether the times of answers matter. */
  get isWatching(): boolean {
    return this.isReduced || this.#late.size > 0;
  }

  /** The time in which attempts time out; Infinity: not known. */
  get timeoutMs(): number {
    return this.#context.timeouts?.timeoutMs ?? Number.POSITIVE_INFINITY;
  }

  /**
   * An attempt got an answer.
   * @param inFlight the number of attempts in flight, with this one
   * @param sentAt NaN: not known
   * @param tookMs NaN: not known
   * @returns whether it makes room for more
   */
  answered(inFlight: number, sentAt: number, tookMs: number, time: Time): boolean {
    if (this.#isBefore(sentAt)) {
      this.#timesBefore.answered(tookMs);
      return false;
    }
    this.#alone = MOST_ALONE;
    // The server answers again.
    if (this.#dismissedPart === 0) this.#dismissedUntil = Number.NEGATIVE_INFINITY;
    this.#times.answered(tookMs);
    if (!this.#isTrial) this.#age(inFlight);
    else if (this.#times.count >= LEAST_ATTEMPTS) this.#conclude(time.now());
    return !this.#isTrial && !this.#isLate(tookMs);
  }

  /**
   * An attempt timed out. If the number in flight is the cause, that uses up no attempt of its
   * request.
   */
  timedOut(completed: CompletedAttempt, inFlight: number, sentAt: number, now: number): void {
    const tookMs = Number.isNaN(sentAt) ? this.timeoutMs : now - sentAt;
    this.#timeoutMs = tookMs;
    if (this.#isBefore(sentAt)) {
      excuse(completed);
      this.#timesBefore.timedOut();
      this.#bound();
    } else if (this.isReduced && inFlight === 1) {
      this.#alone -= 1;
      if (this.#alone > 0) excuse(completed);
      else this.#dismiss(now);
    } else {
      this.#late.add(completed);
      this.#times.timedOut();
      const isOverload =
        this.#late.size >= Math.min(OVERLOAD, inFlight) && this.#times.excess(tookMs) >= OVERLOAD;
      if (isOverload && inFlight > 1 && this.#mayBeCause(inFlight, now)) {
        this.#overloaded(inFlight, now);
      } else if (isOverload) this.#age(inFlight);
    }
  }

  /** The number in flight has another bound from now on. */
  forget(): void {
    this.#reducedAt = Number.NEGATIVE_INFINITY;
    this.#inFlightBefore = 0;
    this.#isTrial = false;
    this.#restart();
  }

  /** Whether it is not known that the number is not the cause, or far less is answered than then. */
  #mayBeCause(inFlight: number, now: number): boolean {
    const isWorse = this.#answeredPart < this.#dismissedPart / 2 && this.#isRound(inFlight);
    return now >= this.#dismissedUntil || isWorse;
  }

  #overloaded(inFlight: number, now: number): void {
    const isFew = inFlight <= this.#inFlightBefore / 2;
    if (isFew && this.#answeredPart >= LEAST_PART && !this.#isBetter) this.#dismiss(now);
    else this.#reduce(inFlight, now);
  }

  #reduce(inFlight: number, now: number): void {
    for (const late of this.#late) excuse(late);
    this.reducedFrom = this.#isTrial ? Math.max(this.reducedFrom, inFlight) : inFlight;
    this.#timesBefore = this.#times;
    this.#inFlightBefore = inFlight;
    this.#reducedAt = now;
    this.#dismissedUntil = Number.NEGATIVE_INFINITY;
    this.#restart();
    this.#bound();
  }

  /** Bounds the number to a safe part of the attempts that the server has answered in time. */
  #bound(): void {
    const part = this.#timesBefore.answeredPart(this.#timeoutMs);
    const bound = Math.max(1, SAFE_PART * part * this.#inFlightBefore);
    // With one or two in flight, too few attempts end to compare.
    this.#isTrial = bound >= 2;
    this.#setLimit(bound);
  }

  /** Ends the trial, unless some of the attempts that it has let pass may still time out. */
  #conclude(now: number): void {
    if (now - this.#reducedAt < TRIAL_TIMEOUTS * this.#timeoutMs) return;
    this.#isTrial = false;
    if (!this.#isBetter) this.#dismiss(now);
  }

  /** Whether a greater part is answered in time than before the reduction. */
  get #isBetter(): boolean {
    return this.#answeredPart >= GAIN * this.#timesBefore.answeredPart(this.#timeoutMs);
  }

  /** Which part of the attempts in flight is answered in time. */
  get #answeredPart(): number {
    return this.#times.answeredPart(this.#timeoutMs);
  }

  #dismiss(now: number): void {
    this.#dismissedPart = this.#answeredPart;
    this.#dismissedUntil = now + RETRY_TIMEOUTS * this.#timeoutMs;
    this.forget();
    this.#setLimit(Number.POSITIVE_INFINITY);
  }

  /** Lets earlier rounds count less. */
  #age(inFlight: number): void {
    if (!this.#isRound(inFlight)) return;
    this.#times.halve();
    this.#late.clear();
  }

  /** Whether as many attempts have ended as are in flight. */
  #isRound(inFlight: number): boolean {
    return this.#times.count >= Math.max(inFlight, LEAST_ATTEMPTS);
  }

  #restart(): void {
    this.#times = new AttemptTimes();
    this.#first = new AttemptTimes();
    this.#late.clear();
    this.#alone = MOST_ALONE;
  }

  /** Whether an attempt was sent before the last reduction. */
  #isBefore(sentAt: number): boolean {
    return this.isReduced && !(sentAt >= this.#reducedAt);
  }

  #isLate(tookMs: number): boolean {
    if (this.#first.answers < FIRST_ANSWERS) {
      this.#first.answered(tookMs);
      return false;
    }
    const timeoutMs = Number.isNaN(this.#timeoutMs) ? this.timeoutMs : this.#timeoutMs;
    return tookMs > LATE_PART * timeoutMs && tookMs > LATE_TIMES * this.#first.meanMs;
  }
}

function excuse(completed: CompletedAttempt): void {
  completed.excused = (completed.excused ?? 0) + 1;
}
