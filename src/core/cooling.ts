import { checkInteger, checkNumber } from '../model/check.ts';
import type { CoolingFact } from '../model/facts.ts';
import { checkBetween } from './check-between.ts';
import type { CoolingSnapshot, CoolingState } from './cooling-facts.ts';
import { Interval } from './interval.ts';

/** Failures within the window that decelerate (seed: 004). */
export const DEFAULT_FAILURE_THRESHOLD = 3;
/** How long a failure counts (seed: 004). */
export const DEFAULT_FAILURE_WINDOW_MS = 60_000;
/** Between a deceleration and the first step back, and between two steps (seed: 004). */
export const DEFAULT_COOLING_MS = 60_000;
/** Cooling periods without failure after which the ceiling is lifted (seed: 004). */
export const DEFAULT_CEILING_RESET_FACTOR = 5;

/** @see Cooling */
export interface CoolingOptions {
  /** The highest limit, an integer >= 1. */
  readonly maxLimit: number;
  /** The limit at first, an integer from 1 to `maxLimit`. Default: `maxLimit`. */
  readonly initialLimit?: number;
  /** Failures within the window that decelerate, an integer >= 1. Default 3 (seed: 004). */
  readonly failureThreshold?: number;
  /** How long a failure counts, in milliseconds, >= 1. Default 60,000 (seed: 004). */
  readonly failureWindowMs?: number;
  /** Between two steps back up, in milliseconds, >= 1. Default 60,000 (seed: 004). */
  readonly coolingMs?: number;
  /** Cooling periods without failure that lift the ceiling, a number >= 0. Default 5 (seed: 004). */
  readonly ceilingResetFactor?: number;
}

/**
 * A concurrency limit that is halved by failures and grows back one by one, with an interval that
 * is doubled and halved along with it (seed: 004).
 *
 * Every cooling period without a new deceleration is a step: the limit one up while it is below
 * the ceiling, the interval halved while it is longer than configured. A limit that starts below
 * its maximum grows in the same way. An epoch is the time between two decelerations: a failure of
 * an attempt sent in an earlier one is late news of what has been answered already, and counts
 * for nothing; else one outage with a hundred requests in flight would halve the limit to 1.
 */
export class Cooling {
  /** Requests at once. */
  limit: number;
  /** Decelerations so far. */
  epoch = 0;
  readonly interval: Interval;
  private readonly failureThreshold: number;
  private readonly failureWindowMs: number;
  private readonly coolingMs: number;
  private readonly ceilingResetMs: number;
  private maxLimit: number;
  private ceiling: number;
  private state: CoolingState = 'running';
  /** When they happened, fewer than the threshold. */
  private failures: number[] = [];
  private stepAt = Number.POSITIVE_INFINITY;
  private ceilingResetAt = Number.POSITIVE_INFINITY;

  /**
   * @param interval what is doubled and halved: the pace's own
   * @throws RangeError or TypeError that names a wrong option
   */
  constructor(options: CoolingOptions, now: number, interval = new Interval()) {
    const { failureThreshold = DEFAULT_FAILURE_THRESHOLD, coolingMs = DEFAULT_COOLING_MS } =
      options;
    const { failureWindowMs = DEFAULT_FAILURE_WINDOW_MS, maxLimit } = options;
    const { ceilingResetFactor = DEFAULT_CEILING_RESET_FACTOR, initialLimit = maxLimit } = options;
    this.maxLimit = checkInteger('maxLimit', maxLimit, 1);
    this.limit = checkInteger('initialLimit', initialLimit, 1);
    checkBetween('initialLimit', initialLimit, 1, maxLimit);
    this.failureThreshold = checkInteger('failureThreshold', failureThreshold, 1);
    this.failureWindowMs = checkNumber('failureWindowMs', failureWindowMs, 1);
    this.coolingMs = checkNumber('coolingMs', coolingMs, 1);
    this.ceilingResetMs = this.coolingMs * checkNumber('ceilingResetFactor', ceilingResetFactor, 0);
    this.ceiling = maxLimit;
    this.interval = interval;
    this.planStep(now);
  }

  /** When `advance` will change something; Infinity: only a failure will. */
  get nextChangeAt(): number {
    return Math.min(this.stepAt, this.ceilingResetAt);
  }

  /**
   * An attempt failed in a way that tells of an overload: not one that was cancelled.
   * @param epoch the one in which it was sent. Default: the present one.
   * @returns what that changed, after what was due before it
   */
  failed(now: number, epoch = this.epoch): readonly CoolingFact[] {
    const facts = this.advance(now);
    if (epoch < this.epoch) return facts;
    this.failures = this.failuresAt(now);
    this.failures.push(now);
    if (this.ceiling < this.maxLimit) this.ceilingResetAt = now + this.ceilingResetMs;
    if (this.failures.length < this.failureThreshold) return facts;
    return [...facts, ...this.decelerate(now)];
  }

  /** Does what is due by now, each at its own time. */
  advance(now: number): readonly CoolingFact[] {
    const facts: CoolingFact[] = [];
    while (this.nextChangeAt <= now) {
      facts.push(this.stepAt <= this.ceilingResetAt ? this.step() : this.liftCeiling());
    }
    return facts;
  }

  /** The state after the last `advance` or `failed`. */
  snapshot(now: number): CoolingSnapshot {
    return {
      state: this.state,
      limit: this.limit,
      maxLimit: this.maxLimit,
      ceiling: this.ceiling,
      intervalMs: this.interval.ms,
      failures: this.failuresAt(now).length,
      nextChangeInMs: Math.max(0, this.nextChangeAt - now),
    };
  }

  /** Changes the maximum. A limit or ceiling that was at the old one goes with it. */
  setMaxLimit(maxLimit: number, now: number): void {
    checkInteger('maxLimit', maxLimit, 1);
    const moved = (value: number) =>
      value === this.maxLimit ? maxLimit : Math.min(value, maxLimit);
    this.limit = moved(this.limit);
    this.ceiling = moved(this.ceiling);
    this.maxLimit = maxLimit;
    if (this.ceiling === maxLimit) this.ceilingResetAt = Number.POSITIVE_INFINITY;
    this.planStep(now);
  }

  private decelerate(at: number): CoolingFact[] {
    const from = this.limit;
    this.limit = Math.max(1, Math.floor(from / 2));
    const intervalMs = this.interval.slower();
    this.epoch += 1;
    this.state = 'cooling';
    this.failures = [];
    this.ceiling = from;
    this.ceilingResetAt =
      from < this.maxLimit ? at + this.ceilingResetMs : Number.POSITIVE_INFINITY;
    this.stepAt = at + this.coolingMs;
    return [
      { kind: 'decelerated', at, from, to: this.limit, intervalMs },
      { kind: 'coolingStarted', at, untilAt: at + this.coolingMs },
    ];
  }

  private step(): CoolingFact {
    const at = this.stepAt;
    const from = this.limit;
    this.limit = Math.min(this.ceiling, from + 1);
    const intervalMs = this.interval.faster();
    this.stepAt = Number.POSITIVE_INFINITY;
    this.planStep(at);
    return { kind: 'reaccelerated', at, from, to: this.limit, intervalMs };
  }

  private liftCeiling(): CoolingFact {
    const at = this.ceilingResetAt;
    const from = this.ceiling;
    this.ceiling = this.maxLimit;
    this.ceilingResetAt = Number.POSITIVE_INFINITY;
    this.planStep(at);
    return { kind: 'ceilingReset', at, from, to: this.ceiling };
  }

  /** Steps go on until there is none to make: a step already planned stays where it is. */
  private planStep(from: number): void {
    if (this.limit >= this.ceiling && !this.interval.isSlowed) {
      this.stepAt = Number.POSITIVE_INFINITY;
      this.state = 'running';
    } else if (this.stepAt === Number.POSITIVE_INFINITY) {
      this.stepAt = from + this.coolingMs;
    }
  }

  private failuresAt(now: number): number[] {
    return this.failures.filter((at) => now - at < this.failureWindowMs);
  }
}
