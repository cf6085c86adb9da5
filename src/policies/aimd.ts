import type { AimdEvent } from '../model/policy-events.ts';
import { checkBetween, checkInteger } from '../util/check.ts';
import type { Interval } from './interval.ts';
import { checkOptions, integer, number, type Option } from './option.ts';

/** `cooling`: the limit was lowered and is rising again. */
export type AimdState = 'running' | 'cooling';

export interface AimdSnapshot {
  readonly state: AimdState;
  readonly limit: number;
  readonly maxLimit: number;
  /** The bound of steps up: the limit at the last deceleration. */
  readonly ceiling: number;
  readonly intervalMs: number;
  /** Failures within the window, since the last deceleration. */
  readonly failures: number;
  /** The time until time alone changes the state; Infinity if it does not. */
  readonly nextChangeInMs: number;
}

/** Failures within the window that cause a deceleration. */
const DEFAULT_FAILURE_THRESHOLD = 3;
/** How long a failure counts. */
const DEFAULT_FAILURE_WINDOW_MS = 60_000;
/** The time from a deceleration to the first step up, and between two steps. */
const DEFAULT_COOLING_MS = 60_000;
/** Cooling periods without failure after which the ceiling is lifted. */
const DEFAULT_CEILING_RESET_FACTOR = 5;

/** How the concurrency follows failures (`adaptive: 'failures'`). */
export interface AimdOptions {
  /** The greatest limit, an integer >= 1. */
  readonly maxLimit: number;
  /** The initial limit, an integer from 1 to `maxLimit`. Default: `maxLimit`. */
  readonly initialLimit?: number;
  /** Failures within the window that cause a deceleration, an integer >= 1. Default 3. */
  readonly failureThreshold?: number;
  /** How long a failure counts, in milliseconds, >= 1. Default 60,000. */
  readonly failureWindowMs?: number;
  /** The time between two steps up, in milliseconds, >= 1. Default 60,000. */
  readonly coolingMs?: number;
  /** Cooling periods without failure that lift the ceiling, a number >= 0. Default 5. */
  readonly ceilingResetFactor?: number;
}

/** The options that no other strategy has. */
export const AIMD_FIELDS = {
  failureThreshold: integer(
    1,
    DEFAULT_FAILURE_THRESHOLD,
    'requests',
    'failures: failures within the window that halve the limit',
  ),
  failureWindowMs: number(
    1,
    DEFAULT_FAILURE_WINDOW_MS,
    'ms',
    'failures: how long a failure counts',
  ),
  coolingMs: number(
    1,
    DEFAULT_COOLING_MS,
    'ms',
    'failures: time between two increases of the limit',
  ),
  ceilingResetFactor: number(
    0,
    DEFAULT_CEILING_RESET_FACTOR,
    '× `coolingMs`',
    'failures: time without failure after which the ceiling is lifted',
  ),
} satisfies Partial<Record<keyof AimdOptions, Option>>;

/**
 * A concurrency limit that failures halve and that grows back one by one, with an interval that is
 * doubled and halved along with it.
 *
 * Each cooling period without a new deceleration is a step: the limit rises by one while it is
 * below the ceiling, and the interval is halved while it is longer than configured. A limit that
 * starts below its maximum grows in the same way. An epoch is the time between two decelerations:
 * the failure of an attempt of an earlier epoch does not count. Otherwise one outage with a hundred
 * requests in flight would halve the limit to 1.
 */
export class Aimd {
  /** Requests at once. */
  limit: number;
  /** Decelerations so far. */
  epoch = 0;
  readonly interval: Interval;
  readonly #failureThreshold: number;
  readonly #failureWindowMs: number;
  readonly #coolingMs: number;
  readonly #ceilingResetMs: number;
  #maxLimit: number;
  #ceiling: number;
  #state: AimdState = 'running';
  /** The times of failures, fewer than the threshold. */
  #failures: number[] = [];
  #stepAt = Number.POSITIVE_INFINITY;
  #ceilingResetAt = Number.POSITIVE_INFINITY;

  /**
   * @param interval the interval of the pace, which is doubled and halved
   * @throws RangeError or TypeError that names a wrong option
   */
  constructor(options: AimdOptions, now: number, interval: Interval) {
    checkOptions(AIMD_FIELDS, options);
    const { failureThreshold = DEFAULT_FAILURE_THRESHOLD, coolingMs = DEFAULT_COOLING_MS } =
      options;
    const { failureWindowMs = DEFAULT_FAILURE_WINDOW_MS, maxLimit } = options;
    const { ceilingResetFactor = DEFAULT_CEILING_RESET_FACTOR, initialLimit = maxLimit } = options;
    this.#maxLimit = checkInteger('maxLimit', maxLimit, 1);
    this.limit = checkInteger('initialLimit', initialLimit, 1);
    checkBetween('initialLimit', initialLimit, 1, maxLimit);
    this.#failureThreshold = failureThreshold;
    this.#failureWindowMs = failureWindowMs;
    this.#coolingMs = coolingMs;
    this.#ceilingResetMs = coolingMs * ceilingResetFactor;
    this.#ceiling = maxLimit;
    this.interval = interval;
    this.#planStep(now);
  }

  /** When `advance` will change something; Infinity if only a failure will. */
  get nextChangeAt(): number {
    return Math.min(this.#stepAt, this.#ceilingResetAt);
  }

  /**
   * Records an attempt that failed because of an overload, not a cancelled one.
   * @param epoch the epoch in which it was sent. Default: the present one.
   * @returns its changes, after the changes that were due before
   */
  failed(now: number, epoch = this.epoch): readonly AimdEvent[] {
    const facts = this.advance(now);
    if (epoch < this.epoch) return facts;
    this.#failures = this.#failuresAt(now);
    this.#failures.push(now);
    if (this.#ceiling < this.#maxLimit) this.#ceilingResetAt = now + this.#ceilingResetMs;
    if (this.#failures.length < this.#failureThreshold) return facts;
    return [...facts, ...this.#decelerate(now)];
  }

  /** Makes the changes that are due, each at its own time. */
  advance(now: number): readonly AimdEvent[] {
    const facts: AimdEvent[] = [];
    while (this.nextChangeAt <= now) {
      facts.push(this.#stepAt <= this.#ceilingResetAt ? this.#step() : this.#liftCeiling());
    }
    return facts;
  }

  /** The state after the last `advance` or `failed`. */
  snapshot(now: number): AimdSnapshot {
    return {
      state: this.#state,
      limit: this.limit,
      maxLimit: this.#maxLimit,
      ceiling: this.#ceiling,
      intervalMs: this.interval.ms,
      failures: this.#failuresAt(now).length,
      nextChangeInMs: Math.max(0, this.nextChangeAt - now),
    };
  }

  /** Changes the maximum. A limit or ceiling at the old maximum moves with it. */
  setMaxLimit(maxLimit: number, now: number): void {
    checkInteger('maxLimit', maxLimit, 1);
    const moved = (value: number) =>
      value === this.#maxLimit ? maxLimit : Math.min(value, maxLimit);
    this.limit = moved(this.limit);
    this.#ceiling = moved(this.#ceiling);
    this.#maxLimit = maxLimit;
    if (this.#ceiling === maxLimit) this.#ceilingResetAt = Number.POSITIVE_INFINITY;
    this.#planStep(now);
  }

  #decelerate(at: number): AimdEvent[] {
    const from = this.limit;
    this.limit = Math.max(1, Math.floor(from / 2));
    const intervalMs = this.interval.slower();
    this.epoch += 1;
    this.#state = 'cooling';
    this.#failures = [];
    this.#ceiling = from;
    this.#ceilingResetAt =
      from < this.#maxLimit ? at + this.#ceilingResetMs : Number.POSITIVE_INFINITY;
    this.#stepAt = at + this.#coolingMs;
    return [
      { kind: 'decelerated', at, from, to: this.limit, intervalMs },
      { kind: 'coolingStarted', at, untilAt: at + this.#coolingMs },
    ];
  }

  #step(): AimdEvent {
    const at = this.#stepAt;
    const from = this.limit;
    this.limit = Math.min(this.#ceiling, from + 1);
    const intervalMs = this.interval.faster();
    this.#stepAt = Number.POSITIVE_INFINITY;
    this.#planStep(at);
    return { kind: 'reaccelerated', at, from, to: this.limit, intervalMs };
  }

  #liftCeiling(): AimdEvent {
    const at = this.#ceilingResetAt;
    const from = this.#ceiling;
    this.#ceiling = this.#maxLimit;
    this.#ceilingResetAt = Number.POSITIVE_INFINITY;
    this.#planStep(at);
    return { kind: 'ceilingReset', at, from, to: this.#ceiling };
  }

  /** Plans the next step if there is one to make; a planned step keeps its time. */
  #planStep(from: number): void {
    if (this.limit >= this.#ceiling && !this.interval.isSlowed) {
      this.#stepAt = Number.POSITIVE_INFINITY;
      this.#state = 'running';
    } else if (this.#stepAt === Number.POSITIVE_INFINITY) {
      this.#stepAt = from + this.#coolingMs;
    }
  }

  #failuresAt(now: number): number[] {
    return this.#failures.filter((at) => now - at < this.#failureWindowMs);
  }
}
