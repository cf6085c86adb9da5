import type { Gate } from '../gate/gate.ts';
import type { Receiver } from '../model/parties.ts';
import type { Ticket } from '../model/ticket.ts';
import type { Intake } from '../operators/intake.ts';
import { type Abortable, Listening } from './listening.ts';
import type { Said } from './said.ts';

/** Where the requests of one limiter get their tickets, and the gates that they pass. */
export interface Route<T = unknown> {
  readonly intake: Pick<Intake<T>, 'ticket' | 'abandoned'>;
  /** At least one. */
  readonly gates: readonly Gate[];
}

/** To make its ticket may abort the request, which is counted by then. */
const IN_THE_MAKING = 'in the making';

/** The request does not wait. */
export const NOWHERE = -1;

/** What an abort has to know of a request. */
export interface Trail<T> {
  isGone: boolean;
  ticket: Ticket<T> | typeof IN_THE_MAKING | undefined;
  /** The place of the gate where the request waits, or `NOWHERE`. */
  waitsAt: number;
  /** To the signal that may abort it, until it has ended. */
  listening?: Listening | undefined;
}

/** Of a request that a signal may abort. */
export class SignalTrail<T> implements Trail<T> {
  isGone = false;
  ticket: Trail<T>['ticket'] = undefined;
  waitsAt = NOWHERE;
  listening: Listening | undefined = undefined;
  /** What sends the request, once it is sent. */
  flight: { cancel(reason: unknown): void } | undefined = undefined;
}

/**
 * A request of a promise user on its way through the gates, one after the other. An abort takes it
 * out of the queue where it waits.
 *
 * Many of them wait, and for long: so they know little, and nothing young, which the garbage
 * collector would mind. What is needed to abort one is kept for those alone that can be aborted.
 */
export abstract class Walk<T, R extends Route<T> = Route<T>> implements Receiver, Abortable {
  protected readonly said: Said<R>;

  /** @param said if its ticket is made when its turn comes: it can be sent, by that */
  constructor(said: Said<R>) {
    this.said = said;
  }

  /** Undefined: nobody can abort it. */
  protected get trail(): Trail<T> | undefined {
    return undefined;
  }

  get gone(): boolean {
    return this.trail?.isGone === true;
  }

  /** For queues where it waits without a ticket. */
  get priority(): number {
    return this.said.priority;
  }

  /** All gates are behind the request. */
  protected abstract arrived(ticket: Ticket<T>): void;

  /** The user has aborted, while the request waited or later, or a limit has refused the request. */
  protected abstract failed(reason: unknown): void;

  /**
   * @param value the request itself, where it has no ticket yet
   * @param ticket taken over; undefined: one is made when the request's turn comes
   */
  start(value: T, ticket: Ticket<T> | undefined): void {
    const first = this.said.route.gates[0] as Gate;
    if (ticket !== undefined) {
      if (first.enter(ticket, this)) this.admitted(ticket);
      else this.waitAt(0);
    } else {
      const passed = first.enterLater(value, this);
      if (passed !== undefined) this.admitted(passed as Ticket<T>);
      else if (!this.gone) this.waitAt(0);
    }
  }

  /** For one that a signal may abort. @returns whether it may start: the signal has not aborted yet */
  protected heed(
    signal: AbortSignal,
    trail: SignalTrail<T>,
    ticket: Ticket<T> | undefined,
  ): boolean {
    trail.ticket = ticket;
    if (signal.aborted) {
      if (ticket === undefined) this.said.route.intake.abandoned(1);
      this.abort(signal.reason);
      return false;
    }
    trail.listening = new Listening(signal, this);
    return true;
  }

  ticketOf(value: T, arrivedAt: number): Ticket<T> | undefined {
    const { trail } = this;
    if (trail !== undefined) trail.ticket = IN_THE_MAKING;
    const ticket = this.ticketFor(value, arrivedAt);
    if (trail !== undefined) trail.ticket = ticket;
    ticket?.take(this);
    return ticket;
  }

  /** Makes the ticket when the request's turn comes. Undefined: that failed, and the request is gone. */
  protected ticketFor(value: T, arrivedAt: number): Ticket<T> | undefined {
    const { said } = this;
    const { bytes, tokens, route } = said;
    return route.intake.ticket(value, bytes, tokens, arrivedAt, said, undefined, true);
  }

  /** One gate is passed: to the next. */
  admitted(ticket: Ticket<T>): void {
    const { gates } = this.said.route;
    this.waitAt(NOWHERE);
    for (let next = ticket.place + 1; next < gates.length && !this.gone; next += 1) {
      ticket.place = next;
      if (!(gates[next] as Gate).enter(ticket, this)) {
        this.waitAt(next);
        return;
      }
    }
    if (this.gone) return;
    if (ticket.refusal === undefined) this.arrived(ticket);
    else this.refused(ticket, ticket.refusal);
  }

  abort(reason: unknown): void {
    const { trail } = this;
    if (trail === undefined) return;
    const { ticket, waitsAt } = trail;
    const { gates, intake } = this.said.route;
    this.end();
    trail.isGone = true;
    if (waitsAt !== NOWHERE) gates[waitsAt]?.left(1);
    this.failed(reason);
    if (typeof ticket === 'object') ticket.settle('cancelled');
    else if (ticket === undefined && waitsAt !== NOWHERE) intake.abandoned(1);
  }

  private waitAt(place: number): void {
    const { trail } = this;
    if (trail !== undefined) trail.waitsAt = place;
  }

  /** The request has ended: there is nothing to abort any more. */
  protected end(): void {
    const { trail } = this;
    if (trail === undefined) return;
    trail.ticket = undefined;
    if (trail.listening === undefined) return;
    trail.listening.stop();
    trail.listening = undefined;
  }

  /** A limit has refused the request. */
  protected refused(ticket: Ticket<T>, error: Error): void {
    this.end();
    this.failed(error);
    ticket.settle('rejected');
  }
}
