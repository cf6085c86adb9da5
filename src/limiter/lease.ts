/// <reference lib="esnext.disposable" preserve="true" />

import type { Verdict } from '../model/feedback.ts';
import type { SettleOutcome } from '../model/outcome.ts';
import type { Ticket } from '../model/ticket.ts';
import { OK, verdictOn } from '../providers/classify.ts';
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
   * @param outcome how the request ended. `'ok'` (default): the provider accepted it. `'failed'`:
   * it did not. `'cancelled'`: it was never sent, or its answer was not awaited.
   * @param error the error of a failed request. It is read by its shape, so that a 429 closes the
   * gates as in `run`. Without it, the failure counts as the provider's.
   * @throws TypeError for an unknown outcome; then the lease is still held
   */
  release(
    outcome: Extract<SettleOutcome, 'ok' | 'failed' | 'cancelled'> = 'ok',
    error?: unknown,
  ): void {
    if (this.isReleased) return;
    checkChoice('outcome', outcome, OUTCOMES);
    const { feedback, classify, answers, instrumentation, tap } = this.#terms;
    const { epoch, bytes, attempts } = this.#ticket;
    const verdict = outcome === 'failed' ? failureOf(error, classify) : undefined;
    this.#ticket.verdict = outcome === 'ok' ? OK : verdict;
    this.#ticket.isSent = outcome !== 'cancelled';
    if (outcome !== 'cancelled') {
      instrumentation?.attemptEnded?.(this.#ticket, attempts, verdict?.kind ?? 'ok', error);
    }
    try {
      if (verdict !== undefined && error !== undefined) {
        const epochBefore = feedback.epoch;
        feedback.answered({ ...verdict, bytes, epoch }, answers, error);
        tap.follower?.rejected(this.#ticket, verdict, epochBefore, feedback.epoch, error);
      }
    } finally {
      this.#ticket.settle(outcome);
    }
    if (outcome === 'ok') feedback.accept(epoch, bytes);
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

  [Symbol.dispose](): void {
    this.release();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.release();
  }
}

const OUTCOMES = ['ok', 'failed', 'cancelled'] as const;

/** If the classifier throws, the failure stays as it is. */
function failureOf(error: unknown, classify: (error: unknown) => Verdict): Verdict {
  if (error === undefined) return { kind: 'failed' };
  try {
    return verdictOn(error, classify);
  } catch {
    return { kind: 'failed' };
  }
}
