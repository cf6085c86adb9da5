import type { Gate } from '../gate/gate.ts';
import { type Enlisted, Roster } from '../model/roster.ts';
import type { Receiver, Ticket } from '../model/ticket.ts';
import type { Intake } from '../operators/intake.ts';

/** Where the requests of one limiter get their tickets, and the gates that they pass. */
export interface Route {
  readonly intake: Intake<unknown>;
  readonly first: Gate;
  readonly rest: readonly Gate[];
}

/**
 * A request of a promise user on its way through the gates, one after the other. An abort takes it
 * out of the queue where it waits.
 */
export abstract class Walk<T> implements Receiver, Enlisted<Abortable> {
  before: Abortable | undefined = undefined;
  after: Abortable | undefined = undefined;
  #listens = false;
  gone = false;
  readonly #value: T;
  readonly #route: Route;
  readonly #signal: AbortSignal | undefined;
  #ticket: Ticket<T> | undefined;
  /** The gate where the request waits; undefined while it does not. */
  #waitsAt: Gate | undefined = undefined;
  #passed = 0;

  /** @param ticket undefined: one without a size, made when its turn comes */
  constructor(value: T, ticket: Ticket<T> | undefined, route: Route, signal?: AbortSignal) {
    this.#value = value;
    this.#ticket = ticket;
    this.#route = route;
    this.#signal = signal;
    ticket?.take(this);
  }

  /** All gates are behind the request. */
  protected abstract arrived(ticket: Ticket<T>): void;

  /** The user has aborted, while the request waited or later. */
  protected abstract aborted(reason: unknown): void;

  start(): void {
    if (this.#signal?.aborted) {
      this.abort();
      return;
    }
    if (this.#signal !== undefined) {
      listenersOf(this.#signal).add(this);
      this.#listens = true;
    }
    const { first } = this.#route;
    if (this.#ticket === undefined) {
      const ticket = first.enterLater(this.#value, this);
      if (ticket === undefined) this.#waitsAt = first;
      else this.#walk(ticket as Ticket<T>);
    } else if (first.enter(this.#ticket, this)) this.#walk(this.#ticket);
    else this.#waitsAt = first;
  }

  ticketOf(value: T, arrivedAt: number): Ticket<T> {
    this.#ticket = this.#route.intake.ticket(value, 0, 0, arrivedAt);
    this.#ticket.take(this);
    return this.#ticket;
  }

  admitted(ticket: Ticket<T>): void {
    this.#waitsAt = undefined;
    this.#walk(ticket);
  }

  /** The request has ended: there is nothing to abort any more. */
  protected end(): void {
    this.#ticket = undefined;
    if (!this.#listens || this.#signal === undefined) return;
    this.#listens = false;
    listenersOf(this.#signal).remove(this);
  }

  /** One gate is passed: to the next. */
  #walk(ticket: Ticket<T>): void {
    const { rest } = this.#route;
    while (!this.gone && this.#passed < rest.length) {
      const gate = rest[this.#passed];
      this.#passed += 1;
      if (!gate?.enter(ticket, this)) {
        this.#waitsAt = gate;
        return;
      }
    }
    if (!this.gone) this.arrived(ticket);
  }

  /** The signal has aborted. */
  abort(): void {
    const ticket = this.#ticket;
    this.end();
    this.gone = true;
    this.#waitsAt?.left(1);
    this.aborted(this.#signal?.reason);
    ticket?.settle('cancelled');
  }
}

interface Abortable extends Enlisted<Abortable> {
  abort(): void;
}

/**
 * All requests that share one signal, behind one listener: EventTarget compares each new listener
 * with all that it has.
 */
class Listeners {
  readonly #signal: AbortSignal;
  readonly #roster = new Roster<Abortable>();

  constructor(signal: AbortSignal) {
    this.#signal = signal;
  }

  add(request: Abortable): void {
    if (this.#roster.first === undefined) this.#signal.addEventListener('abort', this);
    this.#roster.add(request);
  }

  remove(request: Abortable): void {
    this.#roster.remove(request);
    if (this.#roster.first === undefined) this.#signal.removeEventListener('abort', this);
  }

  handleEvent(): void {
    // Each leaves the roster as it aborts.
    for (let next = this.#roster.first; next !== undefined; next = this.#roster.first) next.abort();
  }
}

const listeners = new WeakMap<AbortSignal, Listeners>();

function listenersOf(signal: AbortSignal): Listeners {
  let found = listeners.get(signal);
  if (found === undefined) {
    found = new Listeners(signal);
    listeners.set(signal, found);
  }
  return found;
}
