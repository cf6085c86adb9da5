import type { LimiterOptions, LimiterSnapshot } from 'headgate';
import type { CircuitState } from 'headgate/advanced';

const MINUTE_MS = 60_000;

/** One rate limit. */
export interface RateReport {
  readonly limit: number;
  readonly windowMs: number;
  /** What the window that the run ended in had used of it. */
  readonly used: number;
}

/** What a rate that adapts came to. Requests a second, at the end. */
export interface AdaptiveRateReport {
  /** Null: nothing bounded it. */
  readonly perSecond: number | null;
  /** Where it came from; `start`: nothing was known yet. */
  readonly source: 'start' | 'limit' | 'headers' | 'learned';
  /** What the provider had accepted at the last congestion; null: there was none. */
  readonly ceilingPerSecond: number | null;
  /** Whether the provider let nothing in. */
  readonly isOut: boolean;
}

/** The limits that were in force, and what a run made of them. */
export interface LimitsReport {
  /** Requests in flight at the most. */
  readonly concurrency: number;
  /** The same at the end, where failures or latency have changed it. */
  readonly concurrencyAtEnd: number;
  readonly maxBytes: number;
  /** Null: it does not adapt. */
  readonly rate: AdaptiveRateReport | null;
  /** By name. */
  readonly rateLimit: Readonly<Record<string, RateReport>>;
  /** Least time between two attempts, at the end; 0: none. */
  readonly intervalMs: number;
  /** At the end; null: there is no circuit breaker. */
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
