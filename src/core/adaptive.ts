import { show } from '../model/check.ts';
import { START_AT_ONCE } from './adaptive-rate/trust.ts';
import { checkBetween } from './check-between.ts';
import {
  type CoolingOptions,
  DEFAULT_CEILING_RESET_FACTOR,
  DEFAULT_COOLING_MS,
  DEFAULT_FAILURE_THRESHOLD,
  DEFAULT_FAILURE_WINDOW_MS,
} from './cooling.ts';
import {
  DEFAULT_BACKOFF_RATIO,
  DEFAULT_GRADIENT_INITIAL_LIMIT,
  DEFAULT_LATENCY_TOLERANCE,
  DEFAULT_SAMPLE_WINDOW_MS,
  DEFAULT_SMOOTHING,
  type GradientOptions,
} from './gradient-options.ts';
import { integer, number, type Option, upTo, word } from './option.ts';
import type { PolicyDefinition } from './policy-definition.ts';
import { type ConcurrencyConfig, DEFAULT_CONCURRENCY } from './slots.ts';

/** The highest limit is always `concurrency`. */
type CoolingConfig = Omit<CoolingOptions, 'maxLimit'>;
type GradientConfig = Omit<GradientOptions, 'maxLimit'>;

/** Options of the rate that adapts. */
export interface RateStrategyConfig {
  /** Requests in flight at first, an integer from 1 to `concurrency`. Default 16. */
  readonly initialLimit?: number;
  /**
   * The rate to begin with, requests a second, >= 0.001: what was learned of the provider before, say
   * in an earlier process. It adapts as one that 429s have taught. Default: none, until something is
   * learned.
   */
  readonly initialPerSecond?: number;
}

/**
 * What adapts: the rate, to what the provider accepts and says (`rate`), or the concurrency limit, to
 * latency (`latency`) or to failures (`failures`).
 */
export type AdaptiveConfig =
  | ({ readonly strategy: 'rate' } & RateStrategyConfig)
  | ({ readonly strategy: 'latency' } & GradientConfig)
  | ({ readonly strategy: 'failures' } & CoolingConfig);

export type Strategy = AdaptiveConfig['strategy'];

/** What one of several sources says of `adaptive`. */
export type AdaptiveLayer = { readonly strategy?: Strategy } & RateStrategyConfig &
  CoolingConfig &
  GradientConfig;

/** Whether something adapts, and how. */
export interface AdaptiveOption {
  /**
   * Adapts the rate from the first 429 or told limit on (`'rate'`), or the concurrency limit to
   * latency (`'latency'`) or to failures (`'failures'`); a word alone: with its defaults. `false`:
   * nothing adapts, and fixed rules answer 429s. Default `'rate'`; `false` where `backoff`,
   * `throttledConcurrency` or `throttledByteFactor` is given.
   */
  readonly adaptive?: false | Strategy | AdaptiveConfig;
}

/** The same of one of several sources, and the options that it is checked against. */
export interface AdaptiveOptionLayer extends ConcurrencyConfig {
  readonly adaptive?: false | Strategy | AdaptiveLayer;
}

export const STRATEGIES = ['rate', 'latency', 'failures'] as const satisfies readonly Strategy[];

/** One request in about a quarter of an hour. */
const LEAST_PER_SECOND = 0.001;

const COMMON = {
  strategy: word(
    STRATEGIES,
    'required',
    'what adapts: the rate, or the concurrency to latency or to failures',
  ),
  initialLimit: integer(
    1,
    `${START_AT_ONCE} (rate), \`concurrency\` (failures), ${DEFAULT_GRADIENT_INITIAL_LIMIT} (latency)`,
    'requests',
    'the limit at first, up to `concurrency`',
  ),
};

const RATE = {
  initialPerSecond: number(
    LEAST_PER_SECOND,
    'unknown',
    'requests/s',
    'rate: the rate to begin with, as it was learned before',
  ),
};

const LATENCY = {
  minLimit: integer(1, 1, 'requests', 'latency: the lowest limit'),
  tolerance: number(
    1,
    DEFAULT_LATENCY_TOLERANCE,
    '× latency',
    'latency: growth that is no sign of queueing',
  ),
  smoothing: upTo(
    1,
    number(0, DEFAULT_SMOOTHING, 'part', 'latency: of the way to a new limit gone at once'),
  ),
  backoffRatio: upTo(
    1,
    number(0, DEFAULT_BACKOFF_RATIO, 'part', 'latency: of the limit left after a drop'),
  ),
  queueSize: number(0, 'root of the limit', 'requests', 'latency: that may queue in the server'),
  windowMs: number(0, DEFAULT_SAMPLE_WINDOW_MS, 'ms', 'latency: samples for one adjustment'),
  per: word(['request', 'token'], 'request', 'latency: what latency is divided by'),
};

const FAILURES = {
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
  coolingMs: number(1, DEFAULT_COOLING_MS, 'ms', 'failures: between two steps back up'),
  ceilingResetFactor: number(
    0,
    DEFAULT_CEILING_RESET_FACTOR,
    '× `coolingMs`',
    'failures: time without failure that lifts the ceiling',
  ),
};

/** The options of all strategies. */
const ADAPTIVE_FIELDS = { ...COMMON, ...RATE, ...LATENCY, ...FAILURES } satisfies Record<
  keyof AdaptiveLayer,
  Option
>;

/** The strategy that an option is for; undefined: for several. */
export function strategyOf(key: string): Strategy | undefined {
  if (Object.hasOwn(RATE, key)) return 'rate';
  if (Object.hasOwn(LATENCY, key)) return 'latency';
  return Object.hasOwn(FAILURES, key) ? 'failures' : undefined;
}

export const ADAPTIVE: PolicyDefinition<AdaptiveOption, AdaptiveOptionLayer> = {
  options: {
    adaptive: {
      fields: ADAPTIVE_FIELDS,
      alone: word(
        [...STRATEGIES, false],
        'rate',
        'adapts the rate, from the first 429 or told limit on, or the concurrency',
      ),
      aloneIs: 'strategy',
      required: ['strategy'],
    },
  },

  check({ adaptive, concurrency: given }, isWhole, nameOf) {
    const concurrency = given ?? (isWhole ? DEFAULT_CONCURRENCY : undefined);
    if (typeof adaptive !== 'object') return;
    const { strategy, minLimit, initialLimit } = adaptive;
    for (const [key, value] of Object.entries(adaptive)) {
      const owner = strategyOf(key);
      if (value === undefined || strategy === undefined || owner === undefined) continue;
      if (owner === strategy) continue;
      throw new TypeError(
        `\`${nameOf(`adaptive.${key}`)}\` belongs to the strategy ${show(owner)}, not ${show(strategy)}; got ${show(value)}`,
      );
    }
    if (concurrency === undefined) return;
    const inBounds = (key: string, limit: number | undefined, least: number) => {
      const path = nameOf(`adaptive.${key}`);
      if (limit !== undefined) checkBetween(path, limit, least, concurrency);
    };
    inBounds('minLimit', minLimit, 1);
    inBounds('initialLimit', initialLimit, minLimit ?? 1);
  },
};
