import type { Observable } from 'rxjs';
import type { SharedStore } from '../fleet/shared-store.ts';
import type { Verdict } from '../model/feedback.ts';
import type { LimiterConfig } from '../options/limiter-config.ts';
import type { BackoffOption } from '../policies/backoff-policy.ts';
import type { ByteBudgetConfig } from '../policies/byte-budget-policy.ts';
import type { CircuitBreakerConfig } from '../policies/circuit-types.ts';
import type { ConcurrencyConfig } from '../policies/concurrency-policy.ts';
import type { RateLimitConfig } from '../policies/rate-limit/definition.ts';
import { POLICIES, type PolicyConfig } from '../policies/registry.ts';
import { checkFunction, checkMethods, show } from '../util/check.ts';
import { COMMON_KEYS, type CommonOptions } from './common-options.ts';

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

/** How requests wait. */
export type QueueOptions = Pick<
  LimiterConfig,
  'maxQueue' | 'overflow' | 'waitTimeoutMs' | 'agingMs'
>;

/** What a gate shares with those of other processes. */
export interface SharedOption {
  /**
   * Where several workers of one key meet, such as `redisStore` of `headgate/redis`: the limits are
   * then those of all workers together. Default: they are its own.
   */
  readonly shared?: SharedStore;
}

/** The limits of one API: the options of all policies. */
export interface GateOptions
  extends ConcurrencyOptions,
    ByteBudgetOptions,
    AttemptOptions,
    QueueOptions,
    CommonOptions,
    BackoffOption,
    SharedOption {}

/** A limit, or a stream of limits. Each emitted limit applies at once. */
export type Adjustable = number | Observable<number>;

/** How many requests may be in flight. */
export interface ConcurrencyOptions {
  /**
   * The greatest number of requests in flight, an integer >= 1, or a stream of these. Default 400.
   */
  readonly concurrency?: Adjustable;
  /** How many of the requests that were admitted in throttled mode may be in flight. Default 10. */
  readonly throttledConcurrency?: number;
}

/** How many bytes may be in flight. */
export interface ByteBudgetOptions {
  /** Bytes in flight before requests wait, an integer >= 0, or a stream of these. Default 5 MiB. */
  readonly maxBytes?: Adjustable;
  /** The multiple of its size that a request is charged in throttled mode, >= 1. Default 20. */
  readonly throttledByteFactor?: number;
}

export const GATE_KEYS: readonly string[] = [
  ...Object.values(POLICIES).flatMap(({ options }) => Object.keys(options)),
  'isFailure',
  'shared',
  'maxQueue',
  'overflow',
  'waitTimeoutMs',
  'agingMs',
  ...COMMON_KEYS,
];

/** Checks options that belong to no policy. @throws TypeError that names a wrong option */
export function checkGateOptions(options: GateOptions): void {
  checkSharedOption(options);
  if (options.isFailure !== undefined) checkFunction('isFailure', options.isFailure);
  for (const key of ['backoff', 'maxRetryAfterMs', 'onLongWait', 'outageMs'] as const) {
    if (options.feedback !== undefined && options[key] !== undefined) {
      throw new TypeError(
        `\`${key}\` and \`feedback\` exclude each other: give \`${key}\` to the feedback`,
      );
    }
  }
}

/** @throws RangeError or TypeError for what is no store, and for what cannot be shared */
export function checkSharedOption({
  shared,
  onLimit,
}: SharedOption & { readonly onLimit?: unknown }): void {
  if (shared === undefined) return;
  checkMethods('shared', shared, ['exchange', 'join']);
  if (onLimit === 'fail') {
    throw new TypeError(
      `\`onLimit\` must be 'wait' with \`shared\`: only the store knows what is left; got ${show(onLimit)}`,
    );
  }
}
