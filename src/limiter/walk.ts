import type { Gate } from '../gate/gate.ts';
import type { Receiver, Ticket } from '../model/ticket.ts';
import type { Intake } from '../operators/intake.ts';
import { type Abortable, Listening } from './listening.ts';

/** Where the requests of one limiter get their tickets, and the gates that they pass. */
export interface Route<T = unknown> {
  readonly intake: Pick<Intake<T>, 'ticket'>;
  readonly first: Gate;
  readonly rest: readonly Gate[];
}

/**
 * A request of a promise user on its way through the gates, one after the other. An abort takes it
 * out of the queue where it waits.
 */
export abstract class Walk<T, R extends Route<T> = Route<T>> implements Receiver, Abortable {
  gone = false;
  protected readonly route: R;
  readonly #value: T;
  #ticket: Ticket<T> | undefined;
  /** The gate where the request waits; undefined while it does not. */
  #waitsAt: Gate | undefined = undefined;
  #passed = 0;
  #listening: Listening | undefined = undefined;

  /** @param ticket undefined: one without a size, made when its turn comes */
  constructor(value: T, ticket: Ticket<T> | undefined, route: R) {
    this.#value = value;
    this.#ticket = ticket;
    this.route = route;
    ticket?.take(this);
  }

  /** All gates are behind the request. */
  protected abstract arrived(ticket: Ticket<T>): void;

  /** The user has aborted, while the request waited or later, or a limit has refused the request. */
  protected abstract failed(reason: unknown): void;

  start(signal?: AbortSignal): void {
    if (signal?.aborted) {
      this.abort(signal.reason);
      return;
    }
    if (signal !== undefined) this.#listening = new Listening(signal, this);
    const { first } = this.route;
    if (this.#ticket === undefined) {
      const ticket = first.enterLater(this.#value, this);
      if (ticket === undefined) this.#waitsAt = this.gone ? undefined : first;
      else this.#walk(ticket as Ticket<T>);
    } else if (first.enter(this.#ticket, this)) this.#walk(this.#ticket);
    else this.#waitsAt = first;
  }

  ticketOf(value: T, arrivedAt: number): Ticket<T> | undefined {
    this.#ticket = this.ticketFor(value, arrivedAt);
    this.#ticket?.take(this);
    return this.#ticket;
  }

  /** Makes the ticket when the request's turn comes. Undefined: that failed, and the request is gone. */
  protected ticketFor(value: T, arrivedAt: number): Ticket<T> | undefined {
    return this.route.intake.ticket(value, 0, 0, arrivedAt);
  }

  admitted(ticket: Ticket<T>): void {
    this.#waitsAt = undefined;
    this.#walk(ticket);
  }

  abort(reason: unknown): void {
    const ticket = this.#ticket;
    this.end();
    this.gone = true;
    this.#waitsAt?.left(1);
    this.failed(reason);
    ticket?.settle('cancelled');
  }

  /** The request has ended: there is nothing to abort any more. */
  protected end(): void {
    this.#ticket = undefined;
    this.#listening?.stop();
    this.#listening = undefined;
  }

  /** One gate is passed: to the next. */
  #walk(ticket: Ticket<T>): void {
    const { rest } = this.route;
    while (!this.gone && this.#passed < rest.length) {
      const gate = rest[this.#passed];
      this.#passed += 1;
      if (!gate?.enter(ticket, this)) {
        this.#waitsAt = gate;
        return;
      }
    }
    if (this.gone) return;
    if (ticket.refusal === undefined) this.arrived(ticket);
    else this.refused(ticket, ticket.refusal);
  }

  /** A limit has refused the request. */
  protected refused(ticket: Ticket<T>, error: Error): void {
    this.end();
    this.failed(error);
    ticket.settle('rejected');
  }
}
