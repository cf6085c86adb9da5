import type { Ticket } from '../model/ticket.ts';
import type { AttemptContext } from '../operators/attempt-context.ts';
import { endOf } from '../operators/departure.ts';
import type { Deck, Dispatcher } from '../operators/dispatcher.ts';
import { Flight } from '../operators/flight.ts';
import type { Said } from './said.ts';
import { type Route, SignalTrail, Walk } from './walk.ts';

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
  private resolve: (value: R | Promise<never>) => void;

  constructor(said: Said<CallRoute<R, T>>, resolve: (value: R | Promise<never>) => void) {
    super(said);
    this.resolve = resolve;
  }

  /** What goes on after its first value must not keep that alive, as the promise does. */
  value(_flight: Flight<T, R>, value: R): void {
    const resolve = this.resolve;
    this.resolve = ignore;
    resolve(value);
  }

  landed(flight: Flight<T, R>): void {
    this.end();
    flight.ticket.settle('ok');
  }

  crashed(flight: Flight<T, R>, error: unknown): void {
    this.end();
    this.resolve(rejected(error));
    flight.ticket.settle(endOf(flight.ticket, 'failed'));
  }

  protected arrived(ticket: Ticket<T>): void {
    new Flight(ticket, this.said.route.dispatcher, this).send();
  }

  protected failed(reason: unknown): void {
    this.resolve(rejected(reason));
  }
}

/** One that a signal may abort. */
export class AbortableCall<R, T = Task<R>> extends Call<R, T> {
  private readonly signal: AbortSignal;
  private readonly _trail = new SignalTrail<T>();

  constructor(
    said: Said<CallRoute<R, T>>,
    resolve: (value: R | Promise<never>) => void,
    signal: AbortSignal,
  ) {
    super(said, resolve);
    this.signal = signal;
  }

  protected override get trail(): SignalTrail<T> {
    return this._trail;
  }

  override start(task: T, ticket: Ticket<T> | undefined): void {
    if (this.heed(this.signal, this._trail, ticket)) super.start(task, ticket);
  }

  override landed(flight: Flight<T, R>): void {
    this._trail.flight = undefined;
    super.landed(flight);
  }

  override crashed(flight: Flight<T, R>, error: unknown): void {
    this._trail.flight = undefined;
    super.crashed(flight, error);
  }

  protected override arrived(ticket: Ticket<T>): void {
    const flight = new Flight(ticket, this.said.route.dispatcher, this);
    this._trail.flight = flight;
    flight.send();
  }

  protected override failed(reason: unknown): void {
    super.failed(reason);
    this._trail.flight?.cancel(reason);
  }
}

/** Somebody minds it, be it that it comes too late to be heard of: after the task's value, say. */
function rejected(reason: unknown): Promise<never> {
  const promise = Promise.reject(reason);
  promise.catch(() => {});
  return promise;
}

function ignore(): void {}
