import type { BackoffOption } from '../core/backoff.ts';
import type { ByteBudgetConfig } from '../core/byte-budget.ts';
import type { CircuitBreakerConfig } from '../core/circuit-core.ts';
import type { RateLimitConfig } from '../core/rate-limit/definition.ts';
import type { PolicyConfig } from '../core/registry.ts';
import type { ConcurrencyConfig } from '../core/slots.ts';
import type { Verdict } from '../model/feedback.ts';

/** Rate limits, each by its name. */
export type RateLimitOptions = Pick<RateLimitConfig, 'limits' | 'onLimit' | 'refundRejected'>;

/** When to stop sending for a while. */
export type CircuitOptions = CircuitBreakerConfig;

/** What each attempt has to wait for, beside the backoff: all of it in one decision. */
export interface AttemptOptions
  extends Omit<
    PolicyConfig,
    keyof ConcurrencyConfig | keyof ByteBudgetConfig | keyof BackoffOption
  > {
  /**
   * Whether an answer counts as a failure, for `circuitBreaker` and `adaptive`. Default: 5xx and
   * connection errors do, and 429s for `adaptive` alone. What it throws is contained.
   */
  readonly isFailure?: (verdict: Verdict) => boolean;
}
