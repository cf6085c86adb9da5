import { isTroubleOrThrottled, judgeOf } from '../model/feedback.ts';
import { show, wrongValue } from '../util/check.ts';
import { START_AT_ONCE } from './adaptive-rate/trust.ts';
import { AdaptiveRatePolicy } from './adaptive-rate-policy.ts';
import { AIMD_FIELDS, Aimd, type AimdOptions } from './aimd.ts';
import { AimdPolicy } from './aimd-policy.ts';
import type { Backoff } from './backoff.ts';
import type { BackoffOption } from './backoff-policy.ts';
import type { ByteBudgetConfig } from './byte-budget-policy.ts';
import { type ConcurrencyConfig, DEFAULT_CONCURRENCY } from './concurrency-policy.ts';
import { Gradient } from './gradient.ts';
import {
  DEFAULT_GRADIENT_INITIAL_LIMIT,
  GRADIENT_FIELDS,
  type GradientOptions,
} from './gradient-options.ts';
import { GradientPolicy } from './gradient-policy.ts';
import { Interval } from './interval.ts';
import { integer, number, type Option, word } from './option.ts';
import { Pace } from './pace.ts';
import type { PolicyDefinition } from './policy.ts';
import { RATE_TARGET } from './rate-limit/definition.ts';
import { RateLimitPolicy } from './rate-limit-policy.ts';

/** The highest limit is always `concurrency`. */
type CoolingConfig = Omit<AimdOptions, 'maxLimit'>;
type GradientConfig = Omit<GradientOptions, 'maxLimit'>;

/** Options of the adaptive rate. */
export interface RateStrategyConfig {
  /**
   * The initial number of requests in flight, an integer from 1 to `concurrency`. Default 16, and up
   * to 128 once an answer reports a limit on requests; with `limits` on requests or tokens,
   * `concurrency`: these are known already.
   */
  readonly initialLimit?: number;
  /**
   * The initial rate, requests a second, >= 0.001, if it is known, for example from an earlier
   * process. It adapts as a rate that was learned from 429s. Default: none, until a rate is
   * learned.
   */
  readonly initialPerSecond?: number;
}

/**
 * The limit that adapts: the rate, to what the provider accepts and reports (`rate`), or the
 * concurrency limit, to latency (`latency`) or to failures (`failures`).
 */
export type AdaptiveConfig =
  | ({ readonly strategy: 'rate' } & RateStrategyConfig)
  | ({ readonly strategy: 'latency' } & GradientConfig)
  | ({ readonly strategy: 'failures' } & CoolingConfig);

export type Strategy = AdaptiveConfig['strategy'];

/** The value of `adaptive` in one of several sources. */
export type AdaptiveLayer = { readonly strategy?: Strategy } & RateStrategyConfig &
  CoolingConfig &
  GradientConfig;

/** Whether something adapts, and how. */
export interface AdaptiveOption {
  /**
   * Adapts the rate from the first 429 or reported limit on (`'rate'`), or the concurrency limit to
   * latency (`'latency'`) or to failures (`'failures'`). A word alone uses the defaults. `false`:
   * fixed rules react to 429s. Default `'rate'`, or `false` if `backoff`, `throttledConcurrency` or
   * `throttledByteFactor` is given.
   */
  readonly adaptive?: false | Strategy | AdaptiveConfig;
}

/** The option in one of several sources, with the options that it is checked against. */
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
    'adapts the rate, or the concurrency to latency or to failures',
  ),
  initialLimit: integer(
    1,
    `${START_AT_ONCE}, or \`concurrency\` with \`limits\` (rate), \`concurrency\` (failures), ${DEFAULT_GRADIENT_INITIAL_LIMIT} (latency)`,
    'requests',
    'first limit, up to `concurrency`',
  ),
};

const RATE = {
  initialPerSecond: number(
    LEAST_PER_SECOND,
    'unknown',
    'requests/s',
    'rate: first rate, for example one that was learned before',
  ),
};

/** The options of all strategies. */
const ADAPTIVE_FIELDS = { ...COMMON, ...RATE, ...GRADIENT_FIELDS, ...AIMD_FIELDS } satisfies Record<
  keyof AdaptiveLayer,
  Option
>;

/** The strategy that an option belongs to; undefined if it belongs to several. */
export function strategyOf(key: string): Strategy | undefined {
  if (Object.hasOwn(RATE, key)) return 'rate';
  if (Object.hasOwn(GRADIENT_FIELDS, key)) return 'latency';
  return Object.hasOwn(AIMD_FIELDS, key) ? 'failures' : undefined;
}

export const ADAPTIVE: PolicyDefinition<
  AdaptiveOption,
  AdaptivePolicy | undefined,
  AdaptiveOptionLayer,
  'rateTarget' | 'rateCeiling'
> = {
  kind: 'pace',
  options: {
    adaptive: {
      fields: ADAPTIVE_FIELDS,
      alone: word(
        [...STRATEGIES, false],
        'rate',
        'adapts the rate from the first 429 or reported limit on, or the concurrency',
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
      if (limit === undefined || (limit >= least && limit <= concurrency)) return;
      const bound = `a number from ${least} to ${concurrency}, which is \`${nameOf('concurrency')}\``;
      wrongValue(path, bound, limit);
    };
    inBounds('minLimit', minLimit, 1);
    inBounds('initialLimit', initialLimit, minLimit ?? 1);
  },

  create({ adaptive }, context) {
    const options = optionsOf(adaptive);
    if (options === undefined) return undefined;
    const { now, maxLimit, maxRetryAfterMs, apply, correct, emit, isFailure, others, timeouts } =
      context;
    if (options.strategy === 'rate') {
      // Read each time: the first limits may be configured later.
      const known = () =>
        others.rateLimit instanceof RateLimitPolicy ? others.rateLimit : undefined;
      const hard = {
        perMs: (unit: string) =>
          (known()?.limits.perSecond(unit) ?? Number.POSITIVE_INFINITY) / 1_000,
        burst: () => known()?.limits.find('requests')?.rule.maxCost ?? 0,
        isTest: (now: number) => known()?.isTest(now),
      };
      // Configured limits are known: nothing has to be verified first.
      const isKnown = [hard.perMs('requests'), hard.perMs('tokens')].some(Number.isFinite);
      const startLimit =
        options.initialLimit ?? (isKnown ? Number.POSITIVE_INFINITY : START_AT_ONCE);
      const isStartSet = options.initialLimit !== undefined;
      const { initialPerSecond } = options;
      const startPerMs = initialPerSecond === undefined ? undefined : initialPerSecond / 1_000;
      const backoff = others.backoff as Backoff | undefined;
      const gate = { maxLimit, maxRetryAfterMs, apply, correct, emit, backoff, timeouts };
      return new AdaptiveRatePolicy({ hard, startLimit, isStartSet, startPerMs, ...gate });
    }
    if (options.strategy === 'latency') {
      return new GradientPolicy(new Gradient({ ...options, maxLimit }), apply, emit);
    }
    const { pace } = others;
    // Without a pace there is no interval to double.
    const interval = pace instanceof Pace ? pace.interval : noInterval();
    const judge = judgeOf(isFailure, isTroubleOrThrottled);
    const policy = new Aimd({ ...options, maxLimit }, now, interval);
    return new AimdPolicy(policy, judge, apply, emit);
  },

  isAtRest(policy, now) {
    if (!(policy instanceof AimdPolicy)) return policy.isAtRest(now);
    return policy.snapshot(now).failures === 0 && policy.nextChangeAt === Number.POSITIVE_INFINITY;
  },

  metrics: {
    rateTarget: RATE_TARGET,
    rateCeiling: {
      name: 'headgate.rate.ceiling',
      unit: '{request}/s',
      meaning:
        'rate that the API accepted when its limit was last used up; 0: unknown, or no rate adapts',
    },
  },

  measure(policy, now) {
    if (!(policy instanceof AdaptiveRatePolicy)) return {};
    const { origin, perSecond, ceilingPerSecond } = policy.snapshot(now);
    return {
      rateTarget: origin === 'start' ? undefined : { [origin]: perSecond },
      rateCeiling: ceilingPerSecond ?? 0,
    };
  },
};

/** The policies that adapt. Each sets the concurrency limit. */
export type AdaptivePolicy = AdaptiveRatePolicy | AimdPolicy | GradientPolicy;

/** The options that choose the reaction to 429s. */
type Rules = AdaptiveOption &
  BackoffOption &
  Pick<ConcurrencyConfig, 'throttledConcurrency'> &
  Pick<ByteBudgetConfig, 'throttledByteFactor'>;

/** The default of `adaptive`: the rate, unless an option sets a fixed rule for 429s. */
export function adaptiveChoice(rules: Rules): NonNullable<AdaptiveOption['adaptive']> {
  if (rules.adaptive !== undefined) return rules.adaptive;
  const { backoff, throttledConcurrency, throttledByteFactor } = rules;
  const fixed = [backoff, throttledConcurrency, throttledByteFactor];
  return fixed.every((rule) => rule === undefined) ? 'rate' : false;
}

/** Whether the rate adapts. */
export function isAdaptiveRate(adaptive: AdaptiveOption['adaptive']): boolean {
  return optionsOf(adaptive)?.strategy === 'rate';
}

function optionsOf(adaptive: AdaptiveOption['adaptive']): AdaptiveConfig | undefined {
  if (adaptive === undefined || adaptive === false) return undefined;
  return typeof adaptive === 'string' ? { strategy: adaptive } : adaptive;
}

/** An interval that stays 0. */
function noInterval(): Interval {
  return new Interval({ intervalMs: 0, maxIntervalMs: 0 });
}
