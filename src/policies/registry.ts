import { ADAPTIVE, type AdaptiveOption, type AdaptiveOptionLayer } from './adaptive.ts';
import type { AdaptiveRateSnapshot } from './adaptive-rate-policy.ts';
import type { AimdSnapshot } from './aimd.ts';
import type { BackoffSnapshot } from './backoff.ts';
import { BACKOFF, type BackoffOption } from './backoff-policy.ts';
import {
  BYTE_BUDGET,
  type ByteBudgetConfig,
  type ByteBudgetSnapshot,
} from './byte-budget-policy.ts';
import { CIRCUIT_BREAKER, type CircuitBreakerOption } from './circuit-breaker-policy.ts';
import type { CircuitSnapshot } from './circuit-types.ts';
import {
  CONCURRENCY,
  type ConcurrencyConfig,
  type ConcurrencySnapshot,
} from './concurrency-policy.ts';
import { COST_BUDGET, type CostBudgetSnapshot } from './cost-budget.ts';
import type { CostBudgetLayer, CostBudgetOption } from './cost-budget-options.ts';
import type { GradientSnapshot } from './gradient.ts';
import { PACE, type PaceOption, type PaceSnapshot } from './pace.ts';
import { RATE_LIMIT, type RateLimitConfig, type RateLimitLayer } from './rate-limit/definition.ts';
import type { RateLimitUsage } from './rate-limit/limit-set.ts';

/** Every policy, in the order in which a request is charged. */
export const POLICIES = {
  concurrency: CONCURRENCY,
  byteBudget: BYTE_BUDGET,
  backoff: BACKOFF,
  adaptive: ADAPTIVE,
  circuitBreaker: CIRCUIT_BREAKER,
  rateLimit: RATE_LIMIT,
  costBudget: COST_BUDGET,
  pace: PACE,
} as const;

/**
 * Options that can change while requests wait and run; a policy must have been on from the start.
 */
export const CHANGEABLE_KEYS = [
  'concurrency',
  'throttledConcurrency',
  'maxBytes',
  'limits',
  'requestsPerMinute',
  'tokensPerMinute',
  'costBudget',
  'pace',
] as const satisfies readonly (keyof PolicyConfig)[];

export type ChangeableKey = (typeof CHANGEABLE_KEYS)[number];

/** Options that a limiter group can share between its keys. */
export const SHARED_KEYS = [
  'limits',
  'onLimit',
  'refundRejected',
  'requestsPerMinute',
  'tokensPerMinute',
  'costBudget',
  'pace',
  'concurrency',
  'maxBytes',
] as const satisfies readonly (keyof PolicyConfig)[];

/** The options of all policies. */
export interface PolicyConfig
  extends ConcurrencyConfig,
    ByteBudgetConfig,
    BackoffOption,
    AdaptiveOption,
    CircuitBreakerOption,
    RateLimitConfig,
    CostBudgetOption,
    PaceOption {}

/** The state of each policy at one moment; undefined: not on. */
export interface PolicySnapshots {
  readonly concurrency: ConcurrencySnapshot;
  readonly byteBudget: ByteBudgetSnapshot;
  readonly backoff: BackoffSnapshot;
  readonly adaptive: AimdSnapshot | GradientSnapshot | AdaptiveRateSnapshot | undefined;
  readonly circuitBreaker: CircuitSnapshot | undefined;
  /** The usage of each named limit. */
  readonly rateLimit: Readonly<Record<string, RateLimitUsage>> | undefined;
  readonly costBudget: CostBudgetSnapshot | undefined;
  readonly pace: PaceSnapshot | undefined;
}

/** The options of all policies in one of several sources. */
export interface PolicyLayer
  extends ConcurrencyConfig,
    ByteBudgetConfig,
    BackoffOption,
    AdaptiveOptionLayer,
    CircuitBreakerOption,
    RateLimitLayer,
    CostBudgetLayer,
    PaceOption {}
