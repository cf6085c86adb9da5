import { checkAmount, checkNumber } from '../model/check.ts';
import type { ReportedLimit } from '../model/feedback.ts';
import type { Ticket } from '../model/ticket.ts';
import { limitsTold, readUsage } from './read-answer.ts';

/** What `project` is told beside the value, and may tell. */
export class AttemptContext {
  /** Which attempt of the request this is, from 1. */
  readonly attempt: number;
  /** Position of the request in its stream, from 0. */
  readonly index: number;
  /** @internal */
  isLast = false;
  /** @internal the provider's limits, as far as an answer that was observed says them */
  limits: readonly ReportedLimit[] | undefined = undefined;
  readonly #ticket: Ticket;
  #controller: AbortController | undefined = undefined;
  /** Why nobody wants the result, once that is so. */
  #abandoned: { readonly reason: unknown } | undefined = undefined;

  /** @internal */
  constructor(ticket: Ticket) {
    this.attempt = ticket.attempts;
    this.index = ticket.index;
    this.#ticket = ticket;
  }

  /** The request is not sent again, whatever this attempt ends with. */
  doNotRetry(): void {
    this.isLast = true;
  }

  /** The attempt has really used so many tokens more, whatever was estimated. */
  recordTokens(tokens: number): void {
    this.record('tokens', tokens);
  }

  /**
   * The attempt has really cost so much money more, in the currency of the `costBudget`.
   * @throws RangeError or TypeError for what is no amount
   */
  recordCost(cost: number): void {
    checkNumber('cost', cost, 0);
    if (this.isRunning) this.#ticket.record('cost', cost);
  }

  /**
   * The same for any rate limit, by its name: limits that are charged `settle` or `actual` are
   * charged what was recorded. What comes after the attempt has ended is too late.
   * @throws RangeError or TypeError for what is no amount
   */
  record(limit: string, amount: number): void {
    const used = checkAmount(limit, amount);
    if (this.isRunning) this.#ticket.record(limit, used);
  }

  /**
   * Reads what the provider's answer says of its limits and of the tokens that were used, where that
   * is not in what the project returns: SDKs hide the headers, and hand out the body alone.
   *
   * Tokens that were recorded before are left as they are. Limits count that are observed before
   * the project's first value, or its error; what comes after the attempt has ended is too late.
   *
   * @param answer a `Response`, what `withResponse()` of an SDK gives, anything else that has `headers`,
   * those themselves, or a body with `usage`; what says nothing is left alone
   * @returns the answer, as it is
   * @example
   * const answer = await client.chat.completions.create(body, { signal }).withResponse();
   * return context.observe(answer).data;
   */
  observe<A>(answer: A): A {
    if (this.isRunning) {
      this.limits = limitsTold(answer) ?? this.limits;
      readUsage(answer, this.#ticket);
    }
    return answer;
  }

  /** Aborts when the result is no longer wanted. Made when first read: most never ask for it. */
  get signal(): AbortSignal {
    this.#controller ??= new AbortController();
    if (this.#abandoned !== undefined) this.#controller.abort(this.#abandoned.reason);
    return this.#controller.signal;
  }

  /** @internal */
  abandon(reason?: unknown): void {
    this.#abandoned = { reason };
    this.#controller?.abort(reason);
  }

  private get isRunning(): boolean {
    return this.#ticket.attempts === this.attempt && this.#ticket.outcome === undefined;
  }
}
