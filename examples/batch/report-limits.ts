import type { CircuitState, LimiterOptions, LimiterSnapshot } from 'headgate';

const MINUTE_MS = 60_000;

/** One rate limit. */
export interface RateReport {
  readonly limit: number;
  readonly windowMs: number;
  /** What the window that the run ended in had used of it. */
  readonly used: number;
}

/** The limits that were in force, and what a run made of them. */
export interface LimitsReport {
  /** Requests in flight at the most. */
  readonly concurrency: number;
  /** The same at the end, where failures or latency have changed it. */
  readonly concurrencyAtEnd: number;
  readonly maxBytes: number;
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
    rateLimit: Object.fromEntries(rates),
    intervalMs: others.intervalMs,
    circuitBreaker: others.circuitBreaker?.state ?? null,
  };
}
