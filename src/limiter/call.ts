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
  #resolve: (value: R) => void;
  #reject: (reason: unknown) => void;
  #flight: Flight<T, R> | undefined = undefined;

  constructor(
    task: T,
    ticket: Ticket<T> | undefined,
    route: CallRoute<R, T>,
    resolve: (value: R) => void,
    reject: (reason: unknown) => void,
    said?: Said,
  ) {
    super(task, ticket, route, said);
    this.#resolve = resolve;
    this.#reject = reject;
  }

  /** What goes on after its first value must not keep that alive, as the promise does. */
  value(_flight: Flight<T, R>, value: R): void {
    const resolve = this.#resolve;
    this.#resolve = this.#reject = ignore;
    resolve(value);
  }

  landed(flight: Flight<T, R>): void {
    this.#forget();
    flight.ticket.settle('ok');
  }

  crashed(flight: Flight<T, R>, error: unknown): void {
    this.#forget();
    this.#reject(error);
    flight.ticket.settle(endOf(flight.ticket, 'failed'));
  }

  /**
   * A call that has waited long is in the old generation of the garbage collector, and would keep
   * its flight alive until that is collected.
   */
  #forget(): void {
    this.#flight = undefined;
    this.end();
  }

  protected arrived(ticket: Ticket<T>): void {
    this.#flight = new Flight(ticket, this.route.dispatcher, this);
    this.#flight.send();
  }

  protected failed(reason: unknown): void {
    this.#reject(reason);
    this.#flight?.cancel(reason);
  }
}

function ignore(): void {}
