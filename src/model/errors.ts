import { messageOf, print } from '../util/print.ts';

/** The base class of headgate's own errors. Errors of your own calls pass through unchanged. */
export abstract class HeadgateError extends Error {
  /** Identifies the error; stable, unlike the message. */
  abstract readonly code: string;
  /** The name of the class, written out: minifiers shorten those of classes. */
  abstract override get name(): string;
}

/** A ticket was used after it had been settled: it came back late, or from two places. */
export class TicketExpiredError extends HeadgateError {
  readonly code = 'TICKET_EXPIRED';
  /** How the ticket had ended. */
  readonly outcome: string;

  override get name(): string {
    return 'TicketExpiredError';
  }

  constructor(outcome: string) {
    super(
      outcome === 'reclaimed'
        ? 'this ticket came too late: no gate took it over in time, so its leases were reclaimed'
        : `this ticket has ended already (${outcome}); a ticket passes each gate once`,
    );
    this.outcome = outcome;
  }
}

/** A ticket reached a second gate while the first still held it, for example through `share()`. */
export class TicketInUseError extends HeadgateError {
  readonly code = 'TICKET_IN_USE';

  override get name(): string {
    return 'TicketInUseError';
  }

  constructor() {
    super('this ticket is held elsewhere; a ticket can be in one place only');
  }
}

/**
 * A function that is called for each request (`estimate`, `costs`, `priority`, `weight`, `id`, the
 * `keyOf` of a group) threw, or returned a value of a wrong kind. `cause` has the error.
 */
export class EstimatorError extends HeadgateError {
  readonly code = 'ESTIMATOR_FAILED';
  /** The name of the function, or else of the option. */
  readonly estimator: string;
  /** Position of the request in its stream, from 0; undefined: the operator does not count. */
  readonly index: number | undefined;

  override get name(): string {
    return 'EstimatorError';
  }

  constructor(estimator: string, cause: unknown, index?: number) {
    const which = index === undefined ? '' : ` for the request with index ${index}`;
    super(`\`${print(estimator)}\` failed${which}: ${messageOf(cause)}`, { cause });
    this.estimator = estimator;
    this.index = index;
  }

  /** @internal the same error, with the position of its request */
  at(index: number): EstimatorError {
    return new EstimatorError(this.estimator, this.cause, index);
  }
}

/**
 * The provider asks to wait longer than `maxRetryAfterMs`. With `onLongWait: 'fail'`, all waiting
 * requests fail with this error, and so do requests that arrive before the wait is over. `cause` is
 * the provider's answer.
 */
export class RetryAfterTooLongError extends HeadgateError {
  readonly code = 'RETRY_AFTER_TOO_LONG';
  /** The time left of the wait, in ms. */
  readonly retryAfterMs: number;
  readonly maxRetryAfterMs: number;

  override get name(): string {
    return 'RetryAfterTooLongError';
  }

  constructor(retryAfterMs: number, maxRetryAfterMs: number, cause: unknown) {
    super(
      `the provider asks to wait ${Math.round(retryAfterMs)} ms, more than maxRetryAfterMs (${maxRetryAfterMs})`,
      { cause },
    );
    this.retryAfterMs = retryAfterMs;
    this.maxRetryAfterMs = maxRetryAfterMs;
  }
}

/**
 * The request was not sent, because the answer to an earlier request said that a quota or a credit
 * is used up. `cause` is that answer.
 */
export class QuotaExhaustedError extends HeadgateError {
  readonly code = 'QUOTA_EXHAUSTED';
  readonly reason: 'quota' | 'billing';
  /** The time in ms for which nothing is sent; then one request tests the quota. */
  readonly retryAfterMs: number;

  override get name(): string {
    return 'QuotaExhaustedError';
  }

  constructor(reason: 'quota' | 'billing', retryAfterMs: number, cause: unknown) {
    const what = reason === 'quota' ? 'the quota is used up' : 'the account has no credit';
    super(`${what}: nothing is sent for ${Math.round(retryAfterMs)} ms`, { cause });
    this.reason = reason;
    this.retryAfterMs = retryAfterMs;
  }
}

/** The provider could not be reached for `outageMs`. `cause` is the error of the last attempt. */
export class ProviderUnreachableError extends HeadgateError {
  readonly code = 'PROVIDER_UNREACHABLE';
  readonly outageMs: number;

  override get name(): string {
    return 'ProviderUnreachableError';
  }

  constructor(outageMs: number, cause: unknown) {
    super(`the provider could not be reached for outageMs (${outageMs})`, { cause });
    this.outageMs = outageMs;
  }
}

/**
 * A request did not end within its `deadlineMs`, counted from its arrival. `cause` has its last
 * answer or error, if there was any.
 */
export class DeadlineExceededError extends HeadgateError {
  readonly code = 'DEADLINE_EXCEEDED';
  readonly deadlineMs: number;
  /**
   * Where the request was when it ended: `waiting` for its first attempt; in an `attempt`, whose
   * signal was aborted; or in the `backoff` before another attempt, also if no time was left for
   * one.
   */
  readonly where: 'waiting' | 'attempt' | 'backoff';

  override get name(): string {
    return 'DeadlineExceededError';
  }

  constructor(deadlineMs: number, where: 'waiting' | 'attempt' | 'backoff', cause?: unknown) {
    super(
      `the request did not end within its deadline of ${deadlineMs} ms (${where})`,
      cause === undefined ? undefined : { cause },
    );
    this.deadlineMs = deadlineMs;
    this.where = where;
  }
}

/**
 * An attempt, its body included, took longer than `attemptTimeoutMs`. Its signal was aborted with
 * this.
 */
export class AttemptTimeoutError extends HeadgateError {
  readonly code = 'ATTEMPT_TIMEOUT';
  readonly attemptTimeoutMs: number;

  override get name(): string {
    return 'AttemptTimeoutError';
  }

  constructor(attemptTimeoutMs: number) {
    super(`the attempt did not end within attemptTimeoutMs (${attemptTimeoutMs})`);
    this.attemptTimeoutMs = attemptTimeoutMs;
  }
}

/**
 * With `outcomes`, the error of a request whose last answer was a `Response` that is not ok, or the
 * body of an error.
 */
export class ResponseError extends HeadgateError {
  readonly code = 'RESPONSE_NOT_OK';
  /** The response itself, unread; or the body. */
  readonly response: unknown;

  override get name(): string {
    return 'ResponseError';
  }

  constructor(response: unknown) {
    super(`the API answered ${statusOf(response) ?? 'with an error'}`);
    this.response = response;
  }
}

/** Too many requests wait (`maxQueue`), and `overflow` chose this one to fail. It was not sent. */
export class QueueFullError extends HeadgateError {
  readonly code = 'QUEUE_FULL';
  readonly maxQueue: number;
  /** The cause of the queue's wait. */
  readonly gate: string;

  override get name(): string {
    return 'QueueFullError';
  }

  constructor(maxQueue: number, gate: string) {
    super(`the queue is full: maxQueue is ${maxQueue}`);
    this.maxQueue = maxQueue;
    this.gate = gate;
  }
}

/**
 * A group already has `maxKeys` keys, and each is in use or has state to keep, so no key can be
 * added now.
 */
export class TooManyKeysError extends HeadgateError {
  readonly code = 'TOO_MANY_KEYS';
  readonly maxKeys: number;

  override get name(): string {
    return 'TooManyKeysError';
  }

  constructor(maxKeys: number) {
    super(
      `this group has maxKeys (${maxKeys}) keys: each is in use, has state, or was taken with get()`,
    );
    this.maxKeys = maxKeys;
  }
}

/** The request waited for `waitTimeoutMs` and was not sent. */
export class WaitTimeoutError extends HeadgateError {
  readonly code = 'WAIT_TIMEOUT';
  readonly waitTimeoutMs: number;
  /** The cause of its wait. */
  readonly gate: string;

  override get name(): string {
    return 'WaitTimeoutError';
  }

  constructor(waitTimeoutMs: number, gate: string) {
    super(`the request waited for ${waitTimeoutMs} ms without being sent, in the end for ${gate}`);
    this.waitTimeoutMs = waitTimeoutMs;
    this.gate = gate;
  }
}

/** The call did not end within its `timeoutMs`. It was aborted, wherever it was. */
export class RequestTimeoutError extends HeadgateError {
  readonly code = 'REQUEST_TIMEOUT';
  readonly timeoutMs: number;

  override get name(): string {
    return 'RequestTimeoutError';
  }

  constructor(timeoutMs: number) {
    super(`the call did not end within its timeoutMs of ${timeoutMs} ms`);
    this.timeoutMs = timeoutMs;
  }
}

/**
 * The limiter was closed before the request came to it, or while it waited
 * (`close({ waiting: 'reject' })`).
 */
export class LimiterClosedError extends HeadgateError {
  readonly code = 'LIMITER_CLOSED';

  override get name(): string {
    return 'LimiterClosedError';
  }

  constructor() {
    super('this limiter is closed: it takes no more requests');
  }
}

/** `clear()` took the request out of the queue. It waited, and is not sent. */
export class QueueClearedError extends HeadgateError {
  readonly code = 'QUEUE_CLEARED';
  /** The reason that `clear` was given; undefined if none was. */
  readonly reason: string | undefined;

  override get name(): string {
    return 'QueueClearedError';
  }

  constructor(reason?: string) {
    super(
      `the queue was cleared while the request waited${reason === undefined ? '' : `: ${reason}`}`,
    );
    this.reason = reason;
  }
}

/** The status of an answer that is not ok; undefined if there is no status, or it means success. */
function statusOf(answer: unknown): number | undefined {
  if (typeof answer !== 'object' || answer === null || !('status' in answer)) return undefined;
  const { status } = answer;
  return typeof status === 'number' && status >= 400 ? status : undefined;
}
