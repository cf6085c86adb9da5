import { isRejection, type Verdict } from '../model/feedback.ts';
import type { Random } from '../util/clock.ts';

/** Attempts for a request that fails for a passing reason (408, 409, 5xx, timeouts). */
export const DEFAULT_FAILED_ATTEMPTS = 3;
/** Attempts for a request whose connections fail while the provider answers others. */
const UNREACHED_ATTEMPTS = 3;
/** The same where the server closes connections to reject requests. */
const CLOSED_ATTEMPTS = 20;
/** Bounds an attempt, its body included: 10 minutes, as the SDKs of OpenAI and Anthropic do. */
export const DEFAULT_ATTEMPT_TIMEOUT_MS = 600_000;
/** The greatest delay before the second attempt. It doubles for each further one. */
const RETRY_BASE_MS = 500;
/** The longest delay between two attempts. */
const RETRY_MAX_MS = 8_000;
/**
 * The shortest delay, so that a request that fails at once is not repeated for ever in the same
 * turn.
 */
const RETRY_MIN_MS = 1;

/** The budget of retries: an outage causes at most a hundred. */
const BUDGET_TOKENS = 500;
const TOKENS_PER_RETRY = 5;
const TOKENS_PER_SUCCESS = 1;

/** How far a request is retried. */
export interface RetryBounds {
  /** The greatest number of attempts, not counting failed connections. Default: no bound. */
  readonly maxAttempts?: number | undefined;
  /** No retry starts later than this after the request's arrival, in ms. Default: no bound. */
  readonly deadlineMs?: number | undefined;
  /** Attempts of a request whose failures are temporary and concern it alone. Default 3. */
  readonly failedAttempts?: number | undefined;
}

/** The history of a request so far. */
export interface PastAttempts {
  /** Attempts so far, without those whose connection failed: an outage uses up none. */
  readonly attempts: number;
  /** Attempts with a temporary failure: no 429, no overload, and no failed connection. */
  readonly failures: number;
  /** Attempts that met an overload. Default 0. */
  readonly overloads?: number;
  /** Attempts whose connection failed outside an outage. Default 0. */
  readonly unreached?: number;
  /** Whether the provider cannot be reached: the backoff gate waits for that. Default false. */
  readonly isOut?: boolean;
  /** The time since the request arrived, in ms. */
  readonly elapsedMs: number;
}

/**
 * Decides whether and when a request is sent again.
 *
 * Full jitter: a random delay between 0 and the doubling bound (Brooker, "Exponential Backoff And
 * Jitter", AWS Architecture Blog, 2015). The budget is a token bucket filled by successes, as in
 * the standard retry mode of the AWS SDKs: 500 tokens at 5 a retry, 1 a success.
 */
export class RetryPolicy {
  readonly #maxAttempts: number;
  readonly #deadlineMs: number;
  /**
   * Whether the gate of attempts waits out overloads: then the delays of a request do not double.
   */
  isPaced: boolean;
  readonly #failedAttempts: number;
  #budget = BUDGET_TOKENS;

  constructor(
    {
      maxAttempts = Number.POSITIVE_INFINITY,
      deadlineMs = Number.POSITIVE_INFINITY,
      failedAttempts = DEFAULT_FAILED_ATTEMPTS,
    }: RetryBounds,
    isPaced = false,
  ) {
    this.#failedAttempts = failedAttempts;
    this.isPaced = isPaced;
    this.#maxAttempts = maxAttempts;
    this.#deadlineMs = deadlineMs;
  }

  /** Whether the budget is full. */
  get isAtRest(): boolean {
    return this.#budget >= BUDGET_TOKENS;
  }

  get deadlineMs(): number {
    return this.#deadlineMs;
  }

  /** An attempt succeeded. */
  succeeded(): void {
    if (this.#budget < BUDGET_TOKENS) this.#budget += TOKENS_PER_SUCCESS;
  }

  /**
   * @returns the delay in ms before the request returns to the backoff gate; undefined: it does
   * not; Infinity: its deadline leaves no time for that
   */
  delay(verdict: Verdict, past: PastAttempts, random: Random): number | undefined {
    const { attempts, elapsedMs } = past;
    // With a bound of one attempt nothing is sent again, not even after a failed connection.
    if (Math.max(1, attempts) >= this.#maxAttempts) return undefined;
    const delayMs = this.#delayOf(verdict, past, random);
    if (delayMs === undefined) return undefined;
    if (elapsedMs + delayMs >= this.#deadlineMs) return Number.POSITIVE_INFINITY;
    if (isCharged(verdict)) this.#budget -= TOKENS_PER_RETRY;
    return delayMs;
  }

  #delayOf(
    verdict: Verdict,
    { failures, overloads = 0, unreached = 0, isOut = false }: PastAttempts,
    random: Random,
  ): number | undefined {
    const again = verdict.retry ?? isRejection(verdict);
    if (!again) return undefined;
    // The backoff gate holds all requests back, so this request needs no additional delay.
    if (verdict.kind === 'throttled' || isOut) return 0;
    const mostUnreached = verdict.kind === 'failed' ? UNREACHED_ATTEMPTS : CLOSED_ATTEMPTS;
    if (verdict.connection !== undefined && unreached >= mostUnreached) return undefined;
    // `failedAttempts: 1` forbids retries after failures, so also after timeouts of any cause.
    if (verdict.timedOut && this.#failedAttempts === 1) return undefined;
    if (verdict.kind === 'overloaded' && this.isPaced) {
      return Math.max(RETRY_MIN_MS, random() * RETRY_BASE_MS);
    }
    if (isCharged(verdict)) {
      if (failures >= this.#failedAttempts || this.#budget < TOKENS_PER_RETRY) return undefined;
    }
    if (verdict.retryAfterMs !== undefined) return verdict.retryAfterMs;
    const bound = Math.min(
      RETRY_MAX_MS,
      RETRY_BASE_MS * 2 ** (failures + overloads + unreached - 1),
    );
    return Math.max(RETRY_MIN_MS, random() * bound);
  }
}

/**
 * Whether a retry costs budget. It does not if the provider asked to come back later, or did not
 * receive the request.
 */
function isCharged(verdict: Verdict): boolean {
  return verdict.connection === undefined && !isRejection(verdict);
}
