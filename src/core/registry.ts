import { ADAPTIVE, type AdaptiveOption, type AdaptiveOptionLayer } from './adaptive.ts';
import { BACKOFF, type BackoffOption } from './backoff.ts';
import { BYTE_BUDGET, type ByteBudgetConfig } from './byte-budget.ts';
import { CIRCUIT_BREAKER, type CircuitBreakerOption } from './circuit-core.ts';
import { PACE, type PaceOption } from './pace.ts';
import { RATE_LIMIT, type RateLimitConfig, type RateLimitLayer } from './rate-limit/definition.ts';
import { CONCURRENCY, type ConcurrencyConfig } from './slots.ts';

/** Every policy, in the order in which a request is charged. */
export const POLICIES = {
  concurrency: CONCURRENCY,
  byteBudget: BYTE_BUDGET,
  backoff: BACKOFF,
  adaptive: ADAPTIVE,
  circuitBreaker: CIRCUIT_BREAKER,
  rateLimit: RATE_LIMIT,
  pace: PACE,
} as const;

/** The options of all policies. */
export interface PolicyConfig
  extends ConcurrencyConfig,
    ByteBudgetConfig,
    BackoffOption,
    AdaptiveOption,
    CircuitBreakerOption,
    RateLimitConfig,
    PaceOption {}

/** What one of several sources says of them. */
export interface PolicyLayer
  extends ConcurrencyConfig,
    ByteBudgetConfig,
    BackoffOption,
    AdaptiveOptionLayer,
    CircuitBreakerOption,
    RateLimitLayer,
    PaceOption {}
