import type { Random } from '../model/clock.ts';
import { print } from '../model/print.ts';
import { checkBetween } from './check-between.ts';
import type { Core, Demand } from './core.ts';
import {
  DEFAULT_INTERVAL_MS,
  DEFAULT_MAX_INTERVAL_MS,
  Interval,
  type IntervalOptions,
} from './interval.ts';
import { number, type Option, upTo } from './option.ts';
import type { PolicyDefinition } from './policy-definition.ts';

/** Part of the interval that chance may add (seed: 004). */
const DEFAULT_JITTER = 0.5;

/** @see Pace */
export interface PaceOptions extends IntervalOptions {
  /**
   * How much longer than the interval chance may make a pause, as a part of the interval:
   * a number from 0 to 1. Default 0.5, up to half an interval more (seed: 004).
   */
  readonly jitter?: number;
}

/** How fast requests follow each other. */
export interface PaceOption {
  /** Least time between two dispatches. Default: none. */
  readonly pace?: PaceOptions;
}

/** Milliseconds. */
export interface PaceSnapshot {
  /** The present interval, without jitter. */
  readonly intervalMs: number;
  readonly configuredIntervalMs: number;
  readonly maxIntervalMs: number;
  /** Until the next request may pass; 0 if it may now. */
  readonly nextInMs: number;
}

/**
 * At least an interval between two dispatches, and some jitter.
 *
 * A grant reserves the pause that follows it, so that those who wait leave one by one. Its jitter
 * is drawn with the grant, if there is an interval then: asking again gives the same answer. A
 * change of the interval counts for the pause that is running, too.
 */
export class Pace implements Core<number> {
  readonly interval: Interval;
  private readonly random: Random;
  private jitter: number;
  private grantedAt = Number.NEGATIVE_INFINITY;
  private draw = 0;

  /**
   * @param interval where it is kept; adaptation that shares it changes the pace
   * @throws RangeError or TypeError that names a wrong option
   */
  constructor(options: PaceOptions, random: Random, interval = new Interval(options)) {
    this.jitter = checkJitter(options);
    this.random = random;
    this.interval = interval;
  }

  wait(_demand: Demand, now: number): number {
    return Math.max(0, this.nextAt() - now);
  }

  take(_demand: Demand, now: number): number {
    this.grantedAt = now;
    // Chance adds a part of the interval.
    this.draw = this.interval.ms === 0 ? 0 : this.random();
    return 0;
  }

  /** Time is not given back. */
  giveBack(): void {}

  snapshot(now: number): PaceSnapshot {
    return {
      intervalMs: this.interval.ms,
      configuredIntervalMs: this.interval.minMs,
      maxIntervalMs: this.interval.maxMs,
      nextInMs: Math.max(0, this.nextAt() - now),
    };
  }

  /** Doubles the interval, up to the longest. Returns the new one. */
  slower(): number {
    return this.interval.slower();
  }

  /** Halves the interval, down to the configured one. Returns the new one. */
  faster(): number {
    return this.interval.faster();
  }

  /** @throws as `configure` does, and changes nothing */
  check(options: PaceOptions): void {
    checkJitter(options);
    new Interval(options);
  }

  /**
   * Takes new options, all or none.
   * @throws RangeError or TypeError that names a wrong option
   */
  configure(options: PaceOptions): void {
    const jitter = checkJitter(options);
    this.interval.configure(options);
    this.jitter = jitter;
  }

  /** No getter: V8 goes through its runtime for a private one. */
  private nextAt(): number {
    return this.grantedAt + this.interval.ms * (1 + this.jitter * this.draw);
  }
}

/**
 * Chance that cannot fail: the draw comes after other limits were charged, and what throws there, or
 * draws no number from 0 to 1, counts as 0.
 */
export function containedRandom(random: Random): Random {
  if (random === Math.random) return random;
  let warned = false;
  return () => {
    let why: unknown;
    try {
      const drawn = random();
      if (drawn >= 0 && drawn <= 1) return drawn;
      why = `it drew ${drawn}`;
    } catch (error) {
      why = error;
    }
    if (!warned) process.emitWarning(`headgate: \`random\` failed: ${print(why)}`);
    warned = true;
    return 0;
  };
}

function checkJitter({ jitter = DEFAULT_JITTER }: PaceOptions): number {
  return checkBetween('jitter', jitter, 0, 1);
}

const FIELDS = {
  intervalMs: number(0, DEFAULT_INTERVAL_MS, 'ms', 'least time between two dispatches'),
  maxIntervalMs: number(
    0,
    DEFAULT_MAX_INTERVAL_MS,
    'ms',
    'what doubling stops at; `intervalMs` if that is longer',
  ),
  jitter: upTo(1, number(0, DEFAULT_JITTER, '× interval', 'how much chance may add')),
} satisfies Record<keyof PaceOptions, Option>;

export const PACE: PolicyDefinition<PaceOption, Pace | undefined> = {
  kind: 'pace',
  options: { pace: { fields: FIELDS } },

  check({ pace = {} }, isWhole, nameOf) {
    const { intervalMs = isWhole ? DEFAULT_INTERVAL_MS : undefined, maxIntervalMs } = pace;
    if (intervalMs === undefined || maxIntervalMs === undefined || maxIntervalMs >= intervalMs) {
      return;
    }
    const path = nameOf('pace.maxIntervalMs');
    throw new RangeError(
      `\`${path}\` must be a finite number >= ${intervalMs}, which is \`${nameOf('pace.intervalMs')}\`, got ${maxIntervalMs}`,
    );
  },

  create: ({ pace }, { random }) => pace && new Pace(pace, containedRandom(random)),

  configure(policy, { pace = {} }) {
    if (policy === undefined) {
      throw new TypeError('`pace` cannot change: the limiter was made without one');
    }
    policy.check(pace);
    return () => policy.configure(pace);
  },

  isAtRest: (policy, now) => policy.snapshot(now).nextInMs <= 0,
};
