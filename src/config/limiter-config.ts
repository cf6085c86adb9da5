import type { Reopen } from '../core/backoff.ts';
import type { CircuitBreakerOptions } from '../core/circuit-breaker.ts';
import type { CoolingOptions } from '../core/cooling.ts';
import type { GradientOptions } from '../core/gradient-options.ts';
import type { PaceOptions } from '../core/pace.ts';
import type { RateLimit } from '../core/rate-limit/rate-limit.ts';

/** Waiting time that makes up for one step of priority: 10 s. */
export const DEFAULT_AGING_MS = 10_000;

/** How long to back off after a 429. */
export interface BackoffConfig {
  /** Wait after a 429 without retry-after, for a request of up to 128 KiB, in ms, an integer >= 1. Default 1000 (seed: 000). */
  readonly backoffMs?: number;
  /** The same for a larger request. Default 5000 (seed: 000). */
  readonly largeBackoffMs?: number;
  /** Longest wait that a provider may ask for, in ms, >= 1. Default 60,000. */
  readonly maxRetryAfterMs?: number;
  /** Throttled mode outlasts the backoff by this, in ms, >= 0. Default 10,000 (seed: 000). */
  readonly throttledForMs?: number;
  /** `'probe'` (default): one request tests before all go. `'all'`: everyone goes at once. */
  readonly reopen?: Reopen;
}

/** When to stop sending for a while. */
export interface CircuitBreakerConfig extends CircuitBreakerOptions {
  /** What happens to requests while the circuit is open: they fail at once (default), or wait. */
  readonly onOpen?: 'fail' | 'wait';
}

/** The highest limit is always `concurrency`. */
type CoolingConfig = Omit<CoolingOptions, 'maxLimit'>;
type GradientConfig = Omit<GradientOptions, 'maxLimit'>;

/** Options of the rate that adapts. */
export interface RateStrategyConfig {
  /** Requests in flight at first, an integer from 1 to `concurrency`. Default 16. */
  readonly initialLimit?: number;
}

/**
 * What adapts: the rate, to what the provider accepts and says (`rate`), or the concurrency limit, to
 * latency (`latency`) or to failures (`failures`).
 */
export type AdaptiveConfig =
  | ({ readonly strategy: 'rate' } & RateStrategyConfig)
  | ({ readonly strategy: 'latency' } & GradientConfig)
  | ({ readonly strategy: 'failures' } & CoolingConfig);

export type Strategy = AdaptiveConfig['strategy'];

/** The options of a limiter that are plain data: what a file or the environment may hold. */
export interface LimiterConfig {
  /** Requests in flight at the most, an integer >= 1. Default 400 (seed: 000). */
  readonly concurrency?: number;
  /** Of those admitted in throttled mode, how many may be in flight, an integer >= 1. Default 10 (seed: 000). */
  readonly throttledConcurrency?: number;
  /** Bytes in flight before requests wait, an integer >= 0. Default 5 MiB (seed: 000). */
  readonly maxBytes?: number;
  /** How many times its size a request is charged in throttled mode, >= 1. Default 20 (seed: 000). */
  readonly throttledByteFactor?: number;
  /** How long to back off after a 429; the rate does not adapt then, unless `adaptive` says so. */
  readonly backoff?: BackoffConfig;
  /** Short for `limits.requests` with a window of a minute, a number >= 1. Default: no limit. */
  readonly requestsPerMinute?: number;
  /** Short for `limits.tokens` with a window of a minute and charge `settle`, >= 1. Default: no limit. */
  readonly tokensPerMinute?: number;
  /**
   * Named limits that are checked and charged as one, all or none (seed: 001). A request costs 1 of
   * a limit that is named `requests`, its tokens of `tokens`, its bytes of `bytes`, and nothing of
   * others, unless its `costs` say otherwise. Default: none.
   */
  readonly limits?: Readonly<Record<string, RateLimit>>;
  /** What happens to a request that does not fit its rate limits: it waits (default), or fails at once. */
  readonly onLimit?: 'wait' | 'fail';
  /** Whether a 429 gives back what its request was charged. Default false. */
  readonly refundRejected?: boolean;
  /** Least time between two dispatches (seed: 004). Default: none. */
  readonly pace?: PaceOptions;
  /** Stops sending after many failures in a row (seed: 004); `true`: with its defaults. Default: never. */
  readonly circuitBreaker?: true | CircuitBreakerConfig;
  /**
   * Adapts the rate from the first 429 or told limit on (`'rate'`), or the concurrency limit to
   * latency (`'latency'`) or to failures (`'failures'`); a word alone: with its defaults. `false`:
   * nothing adapts, and fixed rules answer 429s. Default `'rate'`; `false` where `backoff`,
   * `throttledConcurrency` or `throttledByteFactor` is given.
   */
  readonly adaptive?: false | Strategy | AdaptiveConfig;
  /**
   * Requests that may wait, at all gates together, an integer >= 0; what was sent before, and waits
   * to be sent again, counts but is never turned away. Default, and Infinity: no bound.
   */
  readonly maxQueue?: number;
  /** Who goes when one more comes than may wait: the newcomer (`error`, default, and `drop-newest`), or the oldest. */
  readonly overflow?: 'error' | 'drop-oldest' | 'drop-newest';
  /** How long a request may wait for its first attempt, in ms, >= 1. Default, and Infinity: no bound. */
  readonly waitTimeoutMs?: number;
  /**
   * Waiting that makes up for one step of priority, in ms, >= 1: at each gate one of priority p is
   * overtaken only by those of a higher q that come less than (q - p) x `agingMs` after it. Default 10,000.
   */
  readonly agingMs?: number;
  /** Attempts a request at the most, an integer >= 1. Default: no bound for 429, 503 and 529. */
  readonly maxAttempts?: number;
  /** No retry starts later than this after the request's arrival, in ms, >= 0. Default: no bound. */
  readonly deadlineMs?: number;
  /** How many requests there will be, an integer >= 0, for progress and ETA. Default: unknown. */
  readonly total?: number;
  /** Per cent between two milestones of progress, an integer from 1 to 100. Default 10 (seed: 004). */
  readonly milestonePercent?: number;
}

/** What one of several sources says: what another may complete can be left out. */
export interface LimiterLayer extends Omit<LimiterConfig, 'limits' | 'adaptive'> {
  readonly limits?: Readonly<Record<string, Partial<RateLimit>>>;
  readonly adaptive?: false | Strategy | AdaptiveLayer;
}

/** @see LimiterLayer */
export type AdaptiveLayer = { readonly strategy?: Strategy } & RateStrategyConfig &
  CoolingConfig &
  GradientConfig;
