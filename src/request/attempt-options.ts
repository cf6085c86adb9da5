import type { LimiterConfig } from '../config/limiter-config.ts';
import type { Verdict } from '../model/feedback.ts';

/** Rate limits, each by its name. */
export type RateLimitOptions = Pick<LimiterConfig, 'limits' | 'onLimit' | 'refundRejected'>;

/** When to stop sending for a while. */
export type CircuitOptions = Exclude<NonNullable<LimiterConfig['circuitBreaker']>, true>;

/** What each attempt has to wait for, beside the backoff: all of it in one decision. */
export interface AttemptOptions
  extends RateLimitOptions,
    Pick<
      LimiterConfig,
      'requestsPerMinute' | 'tokensPerMinute' | 'pace' | 'circuitBreaker' | 'adaptive'
    > {
  /**
   * Whether an answer counts as a failure, for `circuitBreaker` and `adaptive`. Default: 5xx and
   * connection errors do, and 429s for `adaptive` alone. What it throws is contained.
   */
  readonly isFailure?: (verdict: Verdict) => boolean;
}

export const ATTEMPT_KEYS = [
  'limits',
  'onLimit',
  'refundRejected',
  'requestsPerMinute',
  'tokensPerMinute',
  'pace',
  'circuitBreaker',
  'adaptive',
  'isFailure',
] as const;
