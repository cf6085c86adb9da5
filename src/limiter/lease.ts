/// <reference lib="esnext.disposable" preserve="true" />

import type { ReportedLimit, Verdict } from '../model/feedback.ts';
import type { SettleOutcome } from '../model/outcome.ts';
import type { Ticket } from '../model/ticket.ts';
import { OK, verdictOn, withLimits } from '../providers/classify.ts';
import {
  errorIn,
  isKnownError,
  isSuccess,
  limitsOfResultOrHeaders,
  RESULT_KEYS,
} from '../providers/result.ts';
import { isFailedResponse, read, type Shape } from '../providers/shape.ts';
import { ReportedUsage } from '../providers/usage.ts';
import type { DispatchContext } from '../request/send-options.ts';
import { checkAmount, checkChoice, checkNumber } from '../util/check.ts';

/** The parts with which a lease reports the end of its request. */
export type LeaseTerms = Pick<
  DispatchContext<never, unknown>,
  'feedback' | 'classify' | 'answers' | 'instrumentation' | 'tap'
>;

/**
 * Permission to send one request: a slot, its bytes, its share of the rate limits. Give it back
 * with `release()`, or with `using lease = await limiter.acquire()` (or `await using`). A second
 * release does nothing.
 */
export class Lease {
  readonly #ticket: Ticket;
  readonly #terms: LeaseTerms;
  /** What the observed answers have reported. */
  #limits: readonly ReportedLimit[] | undefined = undefined;
  #usage: ReportedUsage | undefined = undefined;
  /** The last observed answer, if it is a failed one. */
  #failed: unknown = undefined;

  /** @internal */
  constructor(ticket: Ticket, terms: LeaseTerms) {
    this.#ticket = ticket;
    this.#terms = terms;
  }

  get bytes(): number {
    return this.#ticket.bytes;
  }

  /** The estimated tokens; see `recordTokens`. */
  get tokens(): number {
    return this.#ticket.tokens;
  }

  /** The tokens recorded with `recordTokens` so far; undefined if none were. */
  get tokensReported(): number | undefined {
    return this.#ticket.usage?.tokens;
  }

  /**
   * The epoch of the backoff when the lease was granted. Pass it with the feedback that you push.
   */
  get epoch(): number {
    return this.#ticket.epoch;
  }

  /** Whether the lease was given back. */
  get isReleased(): boolean {
    return this.#ticket.outcome !== undefined;
  }

  /**
   * Records tokens that the request really used, in addition to those recorded before. Rate limits
   * with `charge: 'settle'` or `'actual'` are charged that. After the release it has no effect.
   * @throws RangeError or TypeError for a value that is no amount
   */
  recordTokens(tokens: number): void {
    this.record('tokens', tokens);
  }

  /**
   * Records money that the request really cost, in addition to amounts recorded before, in the
   * currency of the `costBudget`. After the release it has no effect.
   * @throws RangeError or TypeError for a value that is no amount
   */
  recordCost(cost: number): void {
    checkNumber('cost', cost, 0);
    if (!this.isReleased) this.#ticket.record('cost', cost);
  }

  /**
   * The same for any rate limit, by its name.
   * @throws as that does; UnknownLimitError for a name that no limit has
   */
  record(limit: string, amount: number): void {
    const used = checkAmount(limit || 'amount', amount);
    if (!this.isReleased) this.#ticket.recordNamed(limit, used);
  }

  /**
   * Reads the provider's limits and the used tokens from an answer. If its status is 200 to 299, it
   * counts as accepted from now on, so observe that of a stream before you read it. If it is a
   * `Response` that is not ok, or the body of an error, `release()` reports that failure, also if the
   * body or the headers of that `Response` are observed after it. Tokens that were recorded before
   * stay as they are. After the release it has no effect.
   *
   * @param answer a `Response`, the result of an SDK's `withResponse()`, any object with `headers`,
   * the headers themselves, or a body with `usage`. Other values are ignored
   * @returns the answer, unchanged
   * @example
   * using lease = await limiter.acquire();
   * const response = lease.observe(await fetch(url));
   */
  observe<A>(answer: A): A {
    if (this.isReleased) return answer;
    const limits = limitsOfResultOrHeaders(answer);
    this.#limits = limits ?? this.#limits;
    this.#failed = this.#failureAfter(answer);
    this.#usage = ReportedUsage.read(answer, this.#usage, this.#ticket);
    const isBegun = this.#failed === undefined && isSuccess(answer);
    if (isBegun) this.#ticket.begun(withLimits(OK, limits));
    return answer;
  }

  /**
   * @param outcome how the request ended. `'ok'`: the provider accepted it. `'failed'`: it did not.
   * `'cancelled'`: it was never sent, or its answer was not awaited. Default: `'failed'` if the last
   * observed answer is a failed one, else `'ok'`.
   * @param error the error of a failed request. It is read by its shape, so that a 429 closes the
   * gates as in `run`. Default: the observed failed answer. Without either, the failure counts as
   * the provider's.
   * @throws TypeError for an unknown outcome; then the lease is still held
   */
  release(
    outcome?: Extract<SettleOutcome, 'ok' | 'failed' | 'cancelled'>,
    error: unknown = this.#failed,
  ): void {
    if (this.isReleased) return;
    const end = outcome ?? (this.#failed === undefined ? 'ok' : 'failed');
    checkChoice('outcome', end, OUTCOMES);
    const ticket = this.#ticket;
    ticket.isSent = end !== 'cancelled';
    try {
      if (end === 'ok') this.#accepted();
      else if (end === 'failed') this.#rejected(error);
    } finally {
      ticket.settle(end);
    }
  }

  /**
   * Calls the API in the context of the request and its attempt.
   * @internal
   */
  send<R>(call: () => R): R {
    let result: R | undefined;
    const send = () => {
      result = call();
    };
    const { instrumentation } = this.#terms;
    if (instrumentation?.sending === undefined) send();
    else instrumentation.sending(this.#ticket, send);
    return result as R;
  }

  #accepted(): void {
    const ticket = this.#ticket;
    const { feedback, answers, instrumentation } = this.#terms;
    ticket.verdict = withLimits(OK, this.#limits);
    instrumentation?.attemptEnded?.(ticket, ticket.attempts, 'ok');
    feedback.accept(ticket.epoch, ticket.bytes, answers, this.#limits);
  }

  /** @param error undefined: nothing is known but that it failed */
  #rejected(error: unknown): void {
    const ticket = this.#ticket;
    const { feedback, answers, instrumentation, tap } = this.#terms;
    const { bytes, epoch } = ticket;
    const reported = withLimits(this.#verdictOn(error), this.#limits);
    const verdict = answers.understand(feedback.provider.understand(reported, ticket, error));
    ticket.verdict = verdict;
    instrumentation?.attemptEnded?.(ticket, ticket.attempts, verdict.kind, error);
    if (error === undefined) return;
    const epochBefore = feedback.epoch;
    feedback.answered({ ...answers.corrected(verdict), bytes, epoch }, answers, error);
    tap.follower?.rejected(ticket, verdict, epochBefore, feedback.epoch, error);
  }

  /**
   * What has failed, with this answer. The body or the headers of a failed response follow it, and
   * are no success: a body may say why it failed.
   */
  #failureAfter(answer: unknown): unknown {
    const error = this.#errorIn(answer);
    const before = this.#failed;
    // Another answer, or no response before it.
    if (isAnswer(answer) || !hasHeaders(before)) return error;
    const { status, headers } = before;
    return error === undefined ? before : { status, headers, error };
  }

  /** The error in an observed answer; undefined if there is none. */
  #errorIn(answer: unknown): unknown {
    if (isFailedResponse(answer)) return this.#verdictOn(answer).kind === 'ok' ? undefined : answer;
    const error = errorIn(answer);
    return error !== undefined && isKnownError(this.#verdictOn(error)) ? error : undefined;
  }

  /** A failure of the provider, if there is no error, or the classifier throws. */
  #verdictOn(error: unknown): Verdict {
    if (error === undefined) return FAILED;
    try {
      return verdictOn(error, this.#terms.classify);
    } catch {
      return FAILED;
    }
  }

  [Symbol.dispose](): void {
    this.release();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.release();
  }
}

/** Whether a value is the answer to a request: neither the headers of one nor the body of an error. */
function isAnswer(value: unknown): boolean {
  return hasHeaders(value) || RESULT_KEYS.some((key) => read(value, key) !== undefined);
}

function hasHeaders(answer: unknown): answer is Shape {
  return read(answer, 'headers') !== undefined;
}

const OUTCOMES = ['ok', 'failed', 'cancelled'] as const;

const FAILED: Verdict = { kind: 'failed' };
