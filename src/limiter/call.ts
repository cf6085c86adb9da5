import type { Ticket } from '../model/ticket.ts';
import type { AttemptContext } from '../operators/attempt-context.ts';
import { endOf } from '../operators/departure.ts';
import type { Deck, Dispatcher } from '../operators/dispatcher.ts';
import { Flight } from '../operators/flight.ts';
import { type Route, type Said, Walk } from './walk.ts';

/** One call to the API; called again when it is retried. */
export type Task<R> = (context: AttemptContext) => R | PromiseLike<R>;

/** A route that ends with calling tasks. */
export interface CallRoute<R, T = Task<R>> extends Route {
  readonly dispatcher: Dispatcher<T, R>;
}

/**
 * A task on its way through the gates, then in flight, until it has ended; its promise is settled
 * with what it emits first.
 */
export class Call<R, T = Task<R>> extends Walk<T, CallRoute<R, T>> implements Deck<T, R> {
  /** Rejects it, too. The function for that would be kept for nothing: most calls go well. */
  #resolve: (value: R | Promise<never>) => void;
  /**
   * Where it can be aborted, and until it has landed: a call that has waited long is in the old
   * generation of the garbage collector, which minds each young thing that is known there.
   */
  #flight: Flight<T, R> | undefined = undefined;

  constructor(
    ticket: Ticket<T> | undefined,
    route: CallRoute<R, T>,
    resolve: (value: R | Promise<never>) => void,
    said?: Said,
  ) {
    super(ticket, route, said);
    this.#resolve = resolve;
  }

  /** What goes on after its first value must not keep that alive, as the promise does. */
  value(_flight: Flight<T, R>, value: R): void {
    const resolve = this.#resolve;
    this.#resolve = ignore;
    resolve(value);
  }

  landed(flight: Flight<T, R>): void {
    this.#flight = undefined;
    this.end();
    flight.ticket.settle('ok');
  }

  crashed(flight: Flight<T, R>, error: unknown): void {
    this.#flight = undefined;
    this.end();
    this.#resolve(rejected(error));
    flight.ticket.settle(endOf(flight.ticket, 'failed'));
  }

  protected arrived(ticket: Ticket<T>): void {
    const flight = new Flight(ticket, this.route.dispatcher, this);
    if (this.isAbortable) this.#flight = flight;
    flight.send();
  }

  protected failed(reason: unknown): void {
    this.#resolve(rejected(reason));
    this.#flight?.cancel(reason);
  }
}

/** Somebody minds it, be it that it comes too late to be heard of: after the task's value, say. */
function rejected(reason: unknown): Promise<never> {
  const promise = Promise.reject(reason);
  promise.catch(() => {});
  return promise;
}

function ignore(): void {}
