import type { CircuitBreakerOptions } from '../core/circuit-breaker.ts';
import type { OnOpen } from '../core/circuit-core.ts';
import type { CoolingOptions } from '../core/cooling.ts';
import type { GradientOptions } from '../core/gradient-options.ts';
import type { PaceOptions } from '../core/pace.ts';
import type { OnLimit } from '../core/rate-core.ts';
import type { RateLimit } from '../core/rate-limit/rate-limit.ts';
import type { Verdict } from '../model/feedback.ts';

/** Rate limits, each by its name. */
export interface RateLimitOptions {
  /**
   * Named limits that are checked and charged as one, all or none. A request costs 1 of a limit
   * that is named `requests`, its tokens of `tokens`, its bytes of `bytes`, and nothing of others,
   * unless its `costs` say otherwise. Default: none.
   */
  readonly limits?: Readonly<Record<string, RateLimit>>;
  /** What happens to a request that does not fit: it waits (default), or fails at once. */
  readonly onLimit?: OnLimit;
  /** Whether a 429 gives its charges back: for providers that do not count what they reject. Default false. */
  readonly refundRejected?: boolean;
}

/** When to stop sending for a while. */
export interface CircuitOptions extends CircuitBreakerOptions {
  /**
   * What happens to requests while the circuit is open: `'fail'` (default) with a
   * `CircuitOpenError`, or `'wait'`.
   */
  readonly onOpen?: OnOpen;
}

/** How the concurrency limit adapts, between its lowest and `concurrency`. */
export type AdaptiveOptions =
  | ({ readonly strategy: 'cooling' } & Omit<CoolingOptions, 'maxLimit'>)
  | ({ readonly strategy: 'gradient' } & Omit<GradientOptions, 'maxLimit'>);

/** What each attempt has to wait for, beside the backoff: all of it in one decision. */
export interface AttemptOptions extends RateLimitOptions {
  /** Short for `limits.requests` a minute, a number >= 1. */
  readonly requestsPerMinute?: number;
  /** Short for `limits.tokens` a minute, settled to what was used, a number >= 1. */
  readonly tokensPerMinute?: number;
  /** Least time between two attempts. Default: none. */
  readonly pace?: PaceOptions;
  /** Stops sending after many failures in a row; `true`: with its defaults. Default: never. */
  readonly circuitBreaker?: true | CircuitOptions;
  /** Adapts the concurrency limit to failures (`cooling`) or latency (`gradient`). Default: it is fixed. */
  readonly adaptive?: AdaptiveOptions['strategy'] | AdaptiveOptions;
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
