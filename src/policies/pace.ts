import { checkBetween, wrongValue } from '../util/check.ts';
import type { Random } from '../util/clock.ts';
import { print } from '../util/print.ts';
import { warn } from '../util/warn.ts';
import {
  DEFAULT_INTERVAL_MS,
  DEFAULT_MAX_INTERVAL_MS,
  Interval,
  type IntervalOptions,
} from './interval.ts';
import { number, type Option, upTo } from './option.ts';
import type { Policy, PolicyDefinition, RequestCost } from './policy.ts';

/** The greatest share of the interval that jitter may add. */
const DEFAULT_JITTER = 0.5;

/** The least time between two dispatches, and its random part. */
export interface PaceOptions extends IntervalOptions {
  /**
   * The greatest jitter, as a share of the interval: a number from 0 to 1. Default 0.5, up to half
   * an interval more.
   */
  readonly jitter?: number;
}

/** Options of the pace. */
export interface PaceOption {
  /** The least time between two dispatches. Default: none. */
  readonly pace?: PaceOptions;
}

/** Milliseconds. */
export interface PaceSnapshot {
  /** The present interval, without jitter. */
  readonly intervalMs: number;
  readonly configuredIntervalMs: number;
  readonly maxIntervalMs: number;
  /** The time until the next request may pass, in ms; 0 if it may now. */
  readonly nextInMs: number;
}

/**
 * Keeps at least an interval between two dispatches, plus jitter.
 *
 * A grant reserves the pause after it, so that waiting requests leave one by one. The jitter is
 * drawn with the grant, so asking again gives the same answer. A change of the interval also
 * applies to the running pause.
 */
export class Pace implements Policy<number> {
  /** An adaptive policy may change it. */
  readonly interval: Interval;
  readonly #random: Random;
  #jitter: number;
  #grantedAt = Number.NEGATIVE_INFINITY;
  #draw = 0;

  /** @throws RangeError or TypeError that names a wrong option */
  constructor(options: PaceOptions, random: Random) {
    this.#jitter = checkJitter(options);
    this.#random = random;
    this.interval = new Interval(options);
  }

  wait(_request: RequestCost, now: number): number {
    return Math.max(0, this.#nextAt() - now);
  }

  take(_request: RequestCost, now: number): number {
    this.#grantedAt = now;
    // The jitter is a share of the interval.
    this.#draw = this.interval.ms === 0 ? 0 : this.#random();
    return 0;
  }

  /** Time is not given back. */
  giveBack(): void {}

  snapshot(now: number): PaceSnapshot {
    return {
      intervalMs: this.interval.ms,
      configuredIntervalMs: this.interval.minMs,
      maxIntervalMs: this.interval.maxMs,
      nextInMs: Math.max(0, this.#nextAt() - now),
    };
  }

  /**
   * Sets new options, all or none.
   * @throws RangeError or TypeError that names a wrong option
   */
  configure(options: PaceOptions): void {
    const jitter = checkJitter(options);
    this.interval.configure(options);
    this.#jitter = jitter;
  }

  /** A method: V8 calls a private getter through its runtime. */
  #nextAt(): number {
    return this.#grantedAt + this.interval.ms * (1 + this.#jitter * this.#draw);
  }
}

/**
 * A random source that cannot fail. It is called after other limits were charged, so an error, or a
 * value outside of 0 to 1, counts as 0.
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
    if (!warned) warn(`headgate: \`random\` failed: ${print(why)}`);
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
    'longest interval, however often it doubles; `intervalMs` if that is longer',
  ),
  jitter: upTo(
    1,
    number(0, DEFAULT_JITTER, '× interval', 'largest random addition to an interval'),
  ),
} satisfies Record<keyof PaceOptions, Option>;

export const PACE: PolicyDefinition<PaceOption, Pace | undefined, PaceOption, 'interval'> = {
  kind: 'pace',
  options: { pace: { fields: FIELDS } },

  check({ pace = {} }, isWhole, nameOf) {
    const { intervalMs = isWhole ? DEFAULT_INTERVAL_MS : undefined, maxIntervalMs } = pace;
    if (intervalMs === undefined || maxIntervalMs === undefined || maxIntervalMs >= intervalMs) {
      return;
    }
    const path = nameOf('pace.maxIntervalMs');
    const bound = `a finite number >= ${intervalMs}, which is \`${nameOf('pace.intervalMs')}\``;
    wrongValue(path, bound, maxIntervalMs);
  },

  create: ({ pace }, { random }) => pace && new Pace(pace, containedRandom(random)),

  configure(policy, { pace = {} }) {
    if (policy === undefined) {
      throw new TypeError('`pace` cannot change: the limiter was made without one');
    }
    // Construct once, so that wrong options throw here.
    new Pace(pace, Math.random);
    return () => policy.configure(pace);
  },

  isAtRest: (policy, now) => policy.snapshot(now).nextInMs <= 0,

  metrics: {
    interval: {
      name: 'headgate.dispatch.interval',
      unit: 's',
      meaning: 'present interval between two attempts',
      together: 'greatest',
    },
  },

  measure: ({ interval }) => ({ interval: interval.ms / 1_000 }),
};
