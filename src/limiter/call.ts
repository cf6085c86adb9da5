import type { Ticket } from '../model/ticket.ts';
import type { AttemptContext } from '../operators/attempt-context.ts';
import { endOf } from '../operators/departure.ts';
import type { Deck, Dispatcher } from '../operators/dispatcher.ts';
import { Flight } from '../operators/flight.ts';
import type { Said } from './said.ts';
import { type Route, type SignalTrail, Walk } from './walk.ts';

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
  protected trail: SignalTrail<T> | undefined = undefined;

  constructor(route: CallRoute<R, T>, resolve: (value: R | Promise<never>) => void, said: Said) {
    super(route, said);
    this.#resolve = resolve;
  }

  /** What goes on after its first value must not keep that alive, as the promise does. */
  value(_flight: Flight<T, R>, value: R): void {
    const resolve = this.#resolve;
    this.#resolve = ignore;
    resolve(value);
  }

  landed(flight: Flight<T, R>): void {
    this.land();
    flight.ticket.settle('ok');
  }

  crashed(flight: Flight<T, R>, error: unknown): void {
    this.land();
    this.#resolve(rejected(error));
    flight.ticket.settle(endOf(flight.ticket, 'failed'));
  }

  protected arrived(ticket: Ticket<T>): void {
    const flight = new Flight(ticket, this.route.dispatcher, this);
    if (this.trail !== undefined) this.trail.flight = flight;
    flight.send();
  }

  private land(): void {
    if (this.trail === undefined) return;
    this.trail.flight = undefined;
    this.end();
  }

  protected failed(reason: unknown): void {
    this.#resolve(rejected(reason));
    this.trail?.flight?.cancel(reason);
  }
}

/** Somebody minds it, be it that it comes too late to be heard of: after the task's value, say. */
function rejected(reason: unknown): Promise<never> {
  const promise = Promise.reject(reason);
  promise.catch(() => {});
  return promise;
}

function ignore(): void {}
