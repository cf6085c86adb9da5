import { checkAmount } from '../model/check.ts';
import type { Ticket } from '../model/ticket.ts';

/** What `project` is told beside the value, and may tell. */
export class AttemptContext {
  /** Which attempt of the request this is, from 1. */
  readonly attempt: number;
  /** Position of the request in its stream, from 0. */
  readonly index: number;
  /** @internal */
  isLast = false;
  readonly #ticket: Ticket;
  #controller: AbortController | undefined = undefined;
  #abandoned = false;
  #reason: unknown = undefined;

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
   * The same for any rate limit, by its name: limits that are charged `settle` or `actual` are
   * charged what was recorded. What comes after the attempt has ended is too late.
   * @throws RangeError or TypeError for what is no amount
   */
  record(limit: string, amount: number): void {
    const used = checkAmount(limit, amount);
    if (this.#ticket.attempts === this.attempt && this.#ticket.outcome === undefined) {
      this.#ticket.record(limit, used);
    }
  }

  /** Aborts when the result is no longer wanted. Made when first read: most never ask for it. */
  get signal(): AbortSignal {
    this.#controller ??= new AbortController();
    if (this.#abandoned) this.#controller.abort(this.#reason);
    return this.#controller.signal;
  }

  /** @internal */
  abandon(reason?: unknown): void {
    this.#abandoned = true;
    this.#reason = reason;
    this.#controller?.abort(reason);
  }
}
