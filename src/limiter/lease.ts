/// <reference lib="esnext.disposable" preserve="true" />
import type { FeedbackSubject } from '../feedback/feedback-subject.ts';
import type { SettleOutcome } from '../model/outcome.ts';
import type { Ticket } from '../model/ticket.ts';
import { type Route, Walk } from './walk.ts';

/**
 * Leave to send one request: a slot, its bytes. Give it back with `release()`, or let
 * `using lease = await limiter.acquire()` do it. Giving it back twice does nothing.
 */
export class Lease {
  readonly #ticket: Ticket;
  readonly #feedback: FeedbackSubject;

  /** @internal */
  constructor(ticket: Ticket, feedback: FeedbackSubject) {
    this.#ticket = ticket;
    this.#feedback = feedback;
  }

  get bytes(): number {
    return this.#ticket.bytes;
  }

  get tokens(): number {
    return this.#ticket.tokens;
  }

  /** The backoff in force when the lease was granted: give it with the feedback that you push. */
  get epoch(): number {
    return this.#ticket.epoch;
  }

  /**
   * @param outcome how the request ended. `'ok'` (default) tells the limiter that the provider
   * accepted it. After a 429, push `{kind: 'throttled', epoch: lease.epoch}` into
   * `limiter.feedback` and release with `'failed'`.
   */
  release(outcome: Extract<SettleOutcome, 'ok' | 'failed' | 'cancelled'> = 'ok'): void {
    if (!this.#ticket.settle(outcome) || outcome !== 'ok') return;
    this.#feedback.accept(this.#ticket.epoch, this.#ticket.bytes);
  }

  [Symbol.dispose](): void {
    this.release();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.release();
  }
}

/** A route that ends with a lease. */
export interface LeaseRoute extends Route {
  readonly feedback: FeedbackSubject;
}

/** A request for a lease on its way through the gates. */
export class Acquisition extends Walk<undefined, LeaseRoute> {
  readonly #resolve: (lease: Lease) => void;
  readonly #reject: (reason: unknown) => void;

  constructor(
    ticket: Ticket<undefined> | undefined,
    route: LeaseRoute,
    resolve: (lease: Lease) => void,
    reject: (reason: unknown) => void,
  ) {
    super(undefined, ticket, route);
    this.#resolve = resolve;
    this.#reject = reject;
  }

  protected arrived(ticket: Ticket<undefined>): void {
    this.end();
    const { feedback } = this.route;
    ticket.epoch = feedback.epoch;
    this.#resolve(new Lease(ticket, feedback));
  }

  protected aborted(reason: unknown): void {
    this.#reject(reason);
  }
}
