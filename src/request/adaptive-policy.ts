import type { LimiterConfig } from '../config/limiter-config.ts';
import type { AdaptiveConfig } from '../core/adaptive.ts';
import { START_AT_ONCE } from '../core/adaptive-rate/trust.ts';
import { AdaptiveRateCore } from '../core/adaptive-rate-core.ts';
import { Cooling } from '../core/cooling.ts';
import { CoolingCore } from '../core/cooling-core.ts';
import { Gradient } from '../core/gradient.ts';
import { GradientCore } from '../core/gradient-core.ts';
import { Interval } from '../core/interval.ts';
import { isTroubleOrThrottled, judgeOf } from '../core/judge.ts';
import type { RateCore } from '../core/rate-core.ts';
import type { AttemptOptions } from './attempt-options.ts';
import type { PolicySurroundings } from './attempt-policies.ts';

/** What adapts. Each has moved the concurrency limit to `limit`. */
export type AdaptiveCore = AdaptiveRateCore | CoolingCore | GradientCore;

/** The options that choose how 429s are answered. */
type Rules = Pick<
  LimiterConfig,
  'adaptive' | 'backoff' | 'throttledConcurrency' | 'throttledByteFactor'
>;

/** What adapts, where `adaptive` is not given: the rate, unless an option sets a fixed rule for 429s. */
export function adaptiveChoice(rules: Rules): NonNullable<LimiterConfig['adaptive']> {
  if (rules.adaptive !== undefined) return rules.adaptive;
  const { backoff, throttledConcurrency, throttledByteFactor } = rules;
  const fixed = [backoff, throttledConcurrency, throttledByteFactor];
  return fixed.every((rule) => rule === undefined) ? 'rate' : false;
}

/** Whether it is the rate that adapts. */
export function isAdaptiveRate(adaptive: LimiterConfig['adaptive']): boolean {
  return optionsOf(adaptive)?.strategy === 'rate';
}

/** @param interval the pace, if there is one; @param rateLimit the limits that were configured */
export function adaptiveOf(
  { adaptive, isFailure }: AttemptOptions,
  { now, maxLimit, maxRetryAfterMs, apply, tell }: PolicySurroundings,
  interval: Interval | undefined,
  rateLimit: RateCore | undefined,
): AdaptiveCore | undefined {
  const options = optionsOf(adaptive);
  if (options === undefined) return undefined;
  if (options.strategy === 'rate') {
    const hard = (unit: string) =>
      (rateLimit?.limits.perSecond(unit) ?? Number.POSITIVE_INFINITY) / 1_000;
    const startLimit = options.initialLimit ?? START_AT_ONCE;
    const { initialPerSecond } = options;
    const startPerMs = initialPerSecond === undefined ? undefined : initialPerSecond / 1_000;
    const around = { maxLimit, maxRetryAfterMs, apply, tell };
    return new AdaptiveRateCore({ hard, startLimit, startPerMs, ...around });
  }
  if (options.strategy === 'latency') {
    const { strategy: _, ...gradient } = options;
    return new GradientCore(new Gradient({ ...gradient, maxLimit }), apply, tell);
  }
  const { strategy: _, ...cooling } = options;
  const judge = judgeOf(isFailure, isTroubleOrThrottled);
  // Without a pace there is no interval to double.
  const core = new Cooling({ ...cooling, maxLimit }, now, interval ?? noInterval());
  return new CoolingCore(core, judge, apply, tell);
}

function optionsOf(adaptive: LimiterConfig['adaptive']): AdaptiveConfig | undefined {
  if (adaptive === undefined || adaptive === false) return undefined;
  return typeof adaptive === 'string' ? { strategy: adaptive } : adaptive;
}

/** An interval that stays nothing. */
function noInterval(): Interval {
  return new Interval({ intervalMs: 0, maxIntervalMs: 0 });
}
