import type { LimiterOptions, LimiterSnapshot } from 'headgate';
import type { CircuitState } from 'headgate/advanced';

const MINUTE_MS = 60_000;

/** One rate limit. */
export interface RateReport {
  readonly limit: number;
  readonly windowMs: number;
  /** The used amount in the last window of the run. */
  readonly used: number;
}

/** An adaptive rate at the end of the run, in requests a second. */
export interface AdaptiveRateReport {
  /** Null: unbounded. */
  readonly perSecond: number | null;
  /** The origin of the rate; `start`: nothing was known yet. */
  readonly source: 'start' | 'limit' | 'headers' | 'learned';
  /** The accepted rate at the last congestion; null: there was none. */
  readonly ceilingPerSecond: number | null;
  /** Whether the provider accepted nothing. */
  readonly isOut: boolean;
}

/** The limits of a run, and how they were used. */
export interface LimitsReport {
  /** The configured concurrency. */
  readonly concurrency: number;
  /** The concurrency at the end, if failures or latency have changed it. */
  readonly concurrencyAtEnd: number;
  readonly maxBytes: number;
  /** Null: the rate is not adaptive. */
  readonly rate: AdaptiveRateReport | null;
  /** The rate limits by name. */
  readonly rateLimit: Readonly<Record<string, RateReport>>;
  /** The minimum time between two attempts at the end; 0: none. */
  readonly intervalMs: number;
  /** The state of the circuit at the end; null: there is no circuit breaker. */
  readonly circuitBreaker: CircuitState | null;
}

/** @param snapshot of the limiter, at the end */
export function limitsOf(
  { limits = {} }: LimiterOptions,
  { maxConcurrency, concurrency, byteBudget, rateLimit = {}, ...others }: LimiterSnapshot,
): LimitsReport {
  const rates = Object.entries(rateLimit).map(([name, { limit, used }]) => {
    const rate: RateReport = {
      limit,
      windowMs: limits[name]?.windowMs ?? MINUTE_MS,
      used: Math.round(used),
    };
    return [name, rate] as const;
  });
  return {
    concurrency: maxConcurrency,
    concurrencyAtEnd: concurrency.limit,
    maxBytes: byteBudget.maxBytes,
    rate: rateOf(others.adaptive),
    rateLimit: Object.fromEntries(rates),
    intervalMs: others.intervalMs,
    circuitBreaker: others.circuitBreaker?.state ?? null,
  };
}

/** @param adaptive of a snapshot of the limiter */
export function rateOf(adaptive: LimiterSnapshot['adaptive']): AdaptiveRateReport | null {
  if (adaptive === undefined || !('origin' in adaptive)) return null;
  const { perSecond, origin, ceilingPerSecond, isOut } = adaptive;
  return {
    perSecond: Number.isFinite(perSecond) ? hundredths(perSecond) : null,
    source: origin,
    ceilingPerSecond: ceilingPerSecond === undefined ? null : hundredths(ceilingPerSecond),
    isOut,
  };
}

function hundredths(value: number): number {
  return Number(value.toFixed(2));
}
