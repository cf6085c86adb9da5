import type { PolicyConfig, PolicyLayer } from '../policies/registry.ts';

/** The waiting time that counts as one step of priority: 10 s. */
export const DEFAULT_AGING_MS = 10_000;

/** The options that belong to no policy: waiting, retries, and progress. */
export interface RequestConfig {
  /**
   * Requests that may wait, at all gates together, an integer >= 0; what was sent before, and waits
   * to be sent again, counts but is never turned away. Default, and Infinity: no bound.
   */
  readonly maxQueue?: number;
  /**
   * Which request fails when the queue is full: the newcomer (`error`, default, and `drop-newest`),
   * or the oldest.
   */
  readonly overflow?: 'error' | 'drop-oldest' | 'drop-newest';
  /** How long a request may wait for its first attempt, in ms, >= 1. Default, and Infinity: no bound. */
  readonly waitTimeoutMs?: number;
  /**
   * Waiting that makes up for one step of priority, in ms, >= 1: at each gate one of priority p is
   * overtaken only by those of a higher q that come less than (q - p) x `agingMs` after it. Default 10,000.
   */
  readonly agingMs?: number;
  /**
   * The greatest number of attempts of a request, an integer >= 1. Default: no bound for 429, 503
   * and 529.
   */
  readonly maxAttempts?: number;
  /** Attempts for a request that meets 408, 409 or a 5xx but 503 and 529, or a timeout, an integer >= 1. Default 3. */
  readonly failedAttempts?: number;
  /** How long an attempt may take with its body, in ms, >= 1; Infinity: no bound. Default 600,000. */
  readonly attemptTimeoutMs?: number;
  /**
   * How long a request may take, from its arrival to its result, in ms, >= 1: waiting, in an attempt and
   * between attempts. Then it fails with a `DeadlineExceededError`. Default: no bound.
   */
  readonly deadlineMs?: number;
  /** How many requests there will be, an integer >= 0, for progress and ETA. Default: unknown. */
  readonly total?: number;
  /** Per cent between two milestones of progress, an integer from 1 to 100. Default 10. */
  readonly milestonePercent?: number;
}

/** The plain-data options of a limiter, which a file or the environment may contain. */
export interface LimiterConfig extends PolicyConfig, RequestConfig {}

/**
 * The options of one of several sources, where fields may be missing that another source completes.
 */
export interface LimiterLayer extends PolicyLayer, RequestConfig {}
