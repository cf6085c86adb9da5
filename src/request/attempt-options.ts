import type { Verdict } from '../model/feedback.ts';
import type { BackoffOption } from '../policies/backoff.ts';
import type { ByteBudgetConfig } from '../policies/byte-budget-policy.ts';
import type { CircuitBreakerConfig } from '../policies/circuit-breaker-policy.ts';
import type { ConcurrencyConfig } from '../policies/concurrency-policy.ts';
import type { RateLimitConfig } from '../policies/rate-limit/definition.ts';
import type { PolicyConfig } from '../policies/registry.ts';

/** Rate limits, each by its name. */
export type RateLimitOptions = Pick<RateLimitConfig, 'limits' | 'onLimit' | 'refundRejected'>;

/** Options of the circuit breaker. */
export type CircuitOptions = CircuitBreakerConfig;

/** The policies that are asked for each attempt, beside the backoff, as one decision. */
export interface AttemptOptions
  extends Omit<
    PolicyConfig,
    keyof ConcurrencyConfig | keyof ByteBudgetConfig | keyof BackoffOption
  > {
  /**
   * Whether an answer counts as a failure, for `circuitBreaker` and `adaptive`. Default: 5xx and
   * connection errors, and 429s for `adaptive` only. Its errors are contained.
   */
  readonly isFailure?: (verdict: Verdict) => boolean;
}
