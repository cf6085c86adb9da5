import type { RejectedAttempt } from './attempt.ts';
import { Brake } from './brake.ts';
import { Hold } from './hold.ts';
import { Marks } from './marks.ts';
import { Trials } from './trials.ts';

/** By which the rate grows in a second until the first rejection. */
export const START_GROWTH = 2;

/** The part of what was measured that is used: little is lost, and what varies finds room. */
const MARGIN = 0.99;
/** After time that told nothing, the shortest until more is tried. */
const AFTER_SKIP_MS = 10_000;
/** A rate that fell is taken to fall by this part of it again, which is lost only where nothing saves it. */
const TREND = 0.5;
const MOST_TREND = 0.3;
/** A smaller difference is none. */
const SAME = 0.08;
/** Rejections of attempts that were sent closer together than this are one congestion... */
const CLUSTER_MS = 4_000;
/** ... and tell another rate only if as many attempts were accepted between. */
const CLUSTER_SENT = 5;
/** The excess that is tried first; it doubles every {@link PROBE_DOUBLING_MS}. */
const PROBE_STEP = 0.02;
const PROBE_DOUBLING_MS = 1_500;
/** The excess doubles no faster than answers come that would say it is too much. */
const PROBE_DOUBLING_PER_DELAY = 2;
/** No more than 2 to this times {@link PROBE_STEP}. */
const MOST_DOUBLINGS = 16;
/** Of the rate of the last moment, what is taken at the first rejection. */
const FIRST_PART = 0.9;
/** Longer closures are those of a window: they say all about its rate, and the last moment nothing. */
const LONG_CLOSURE_MS = 2_000;
/** What is rejected so soon after another, with nothing accepted between, is the same news. */
const ONE_MOMENT_MS = 250;
/** A longer time without anything accepted tells nothing of a rate that is known. */
const CLOSED_MS = 10_000;
/** One new rejection moves the mean delay of rejections by this part... */
const DELAY_WEIGHT = 1 / 8;
/** ... and counts for no longer than this: a machine may have slept while it was on its way. */
const MOST_DELAY_MS = 30_000;

/**
 * The rate that a provider accepts, found from its rejections alone.
 *
 * It grows until the first rejection. From then on each congestion measures the rate anew (see
 * {@link Marks}); that rate is held for a while, less a margin, and then exceeded more and more
 * until the next rejection. Where it changes, rejections cluster, and measure it within seconds.
 */
export class LearnedRate {
  readonly #marks: Marks;
  readonly #brake = new Brake();
  readonly #trials = new Trials();
  readonly #hold = new Hold();
  readonly #fallbackPerMs: number;
  readonly #floorPerMs: number;
  #startRate: number;
  #grownAt: number;
  /** undefined until the first rejection. */
  #ceiling: number | undefined = undefined;
  #isConfirmed = false;
  /** Attempts that were sent before the last congestion was noticed are late news. */
  #cutOrder = -1;
  #fullAt = Number.NEGATIVE_INFINITY;
  #holdUntil = Number.NEGATIVE_INFINITY;
  #delayMs = 0;
  #lastCutAt: number | undefined = undefined;

  /**
   * @param startPerMs the rate at first
   * @param fallbackPerMs the most to start from again after a rejection before which nothing was accepted
   * @param floorPerMs the least that can be learned, in attempts of mean cost
   */
  constructor(startPerMs: number, fallbackPerMs: number, floorPerMs: number, now: number) {
    this.#startRate = startPerMs;
    this.#fallbackPerMs = fallbackPerMs;
    this.#floorPerMs = floorPerMs;
    this.#grownAt = now;
    this.#marks = new Marks(now);
  }

  /** What the provider has accepted at the last congestion; undefined before the first. */
  get ceilingPerMs(): number | undefined {
    return this.#ceiling;
  }

  get lastCutAt(): number | undefined {
    return this.#lastCutAt;
  }

  /** The rate is known otherwise: it is this that it grows from until something is measured. */
  follow(ratePerMs: number, now: number): void {
    this.#startRate = ratePerMs;
    this.#grownAt = now;
  }

  /** The limit was configured. What is less than that is others' doing, and tried less often. */
  limitedTo(ratePerMs: number, now: number): void {
    this.#hold.setConfigured();
    this.follow(ratePerMs, now);
  }

  /** An attempt has turned out to have cost more than was thought. */
  corrected(order: number, more: number): void {
    this.#marks.corrected(order, more);
  }

  /** The provider let nobody in for so long, for other reasons than this limit. */
  skip(ms: number, now: number): void {
    this.#marks.skip(ms);
    this.#holdUntil = Math.max(this.#holdUntil + ms, now + AFTER_SKIP_MS);
  }

  /** Per ms. @param isBound whether somebody waits for it: else nothing is learned by growing */
  rateAt(now: number, isBound: boolean): number {
    if (this.#ceiling === undefined) {
      const grownMs = Math.min(now - this.#grownAt, 1_000);
      if (isBound) this.#startRate *= START_GROWTH ** (grownMs / 1_000);
      this.#grownAt = now;
      return this.#startRate;
    }
    const triedMs = now - this.#holdUntil;
    const least = Math.min(1, this.#floorPerMs / this.#ceiling);
    // Only what is sent releases the brake: something must be.
    const braked = this.#ceiling * Math.max(least, this.#brake.factor);
    if (triedMs < 0) return braked * MARGIN;
    const doublingMs = Math.max(PROBE_DOUBLING_MS, PROBE_DOUBLING_PER_DELAY * this.#delayMs);
    const excess = PROBE_STEP * 2 ** Math.min(triedMs / doublingMs, MOST_DOUBLINGS);
    return braked * (1 + excess);
  }

  sent(now: number): void {
    this.#marks.sent(now);
    this.#brake.sent();
  }

  /** An attempt was rejected, perhaps for want of this limit: if so, it is from here that is measured. */
  full(attempt: RejectedAttempt, sent: number, now: number): void {
    if (this.#isLate(attempt)) return;
    this.#cutOrder = sent;
    this.#fullAt = now;
    this.#marks.add({ ...attempt }, attempt.at);
  }

  /** What was sent as answers came, without a pace, is to be paced from now on: as at the start. */
  restart(now: number): void {
    this.follow(this.#fallbackPerMs, now);
  }

  /**
   * An attempt was rejected for want of this limit.
   * @param sent attempts that were sent by now
   * @param retryAfterMs what the provider asked to wait; 0: nothing
   * @returns whether the rate was measured anew
   */
  rejected(attempt: RejectedAttempt, sent: number, now: number, retryAfterMs: number): boolean {
    const delayMs = Math.min(now - attempt.at, MOST_DELAY_MS);
    this.#delayMs += (delayMs - this.#delayMs) * DELAY_WEIGHT;
    if (this.#isLate(attempt)) return false;
    const at = attempt.at + retryAfterMs;
    const { last } = this.#marks;
    if (last !== undefined && this.#ceiling !== undefined) {
      const between = attempt.accepted - last.accepted;
      if (between < 1) {
        this.#cutOrder = sent;
        if (attempt.at - last.at < ONE_MOMENT_MS) return false;
        // Nothing was accepted since: it was still closed.
        if (this.#isConfirmed && at - last.at >= CLOSED_MS) return false;
        this.#marks.prolong(at);
        this.#measure(attempt, now, retryAfterMs);
        return false;
      }
      if (attempt.at - last.at < CLUSTER_MS) {
        this.#brake.press();
        if (between < CLUSTER_SENT) return false;
      }
      this.#isConfirmed = true;
    }
    this.#cutOrder = sent;
    this.#lastCutAt = now;
    this.#marks.add({ ...attempt, at }, attempt.at);
    return this.#measure(attempt, now, retryAfterMs);
  }

  #isLate({ order, at }: RejectedAttempt): boolean {
    return order < this.#cutOrder || at <= this.#fullAt;
  }

  /** @returns whether there was anything to measure */
  #measure(attempt: RejectedAttempt, now: number, retryAfterMs: number): boolean {
    const hadTrial = this.#trials.isRunning;
    const before = this.#trials.from ?? this.#ceiling;
    const measured = this.#estimate(attempt, retryAfterMs);
    if (measured === 0) {
      // Nothing was accepted: it is still the start.
      this.follow(Math.min(this.#startRate, this.#fallbackPerMs), now);
      return false;
    }
    const fell = before === undefined ? 0 : (before - measured) / before;
    // What falls goes on falling, for a while.
    const trend = fell > SAME ? TREND * Math.min(MOST_TREND, fell) : 0;
    const meanCost = meanCostOf(attempt);
    const ceiling = Math.max(this.#floorPerMs * meanCost, measured * (1 - trend));
    this.#ceiling = ceiling;
    const isSame = before !== undefined && Math.abs(fell) < SAME;
    const isSettled = isSame || (this.#trials.isRunning && !hadTrial);
    const requestsPerMs = ceiling / meanCost;
    const holdMs = this.#hold.after({ ratePerMs: ceiling, requestsPerMs, isSame, isSettled });
    this.#holdUntil = now + retryAfterMs + holdMs;
    return true;
  }

  #estimate(attempt: RejectedAttempt, retryAfterMs: number): number {
    const measured = this.#marks.ratePerMs;
    const recent = this.#marks.recentBefore(attempt.at) * meanCostOf(attempt);
    if (this.#ceiling === undefined) {
      const isRising = retryAfterMs < LONG_CLOSURE_MS;
      return isRising ? Math.max(measured, FIRST_PART * recent) : measured;
    }
    if (this.#trials.isRunning) {
      this.#trials.end(measured);
      return measured;
    }
    const wasTrying = attempt.at >= this.#holdUntil;
    if (!wasTrying || this.#marks.windowMs >= LONG_CLOSURE_MS) return measured;
    const known = this.#trials.isForgetful ? Math.max(measured, this.#ceiling) : measured;
    return this.#trials.next(known, recent) ?? known;
  }
}

/** What attempts have cost so far, each. */
function meanCostOf({ accepted, total }: RejectedAttempt): number {
  return accepted > 0 && total > 0 ? total / accepted : 1;
}
