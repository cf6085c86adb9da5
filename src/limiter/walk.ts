import type { Gate } from '../gate/gate.ts';
import { type Receiver, Ticket } from '../model/ticket.ts';
import type { Intake } from '../operators/intake.ts';
import type { AcquireOptions } from './limiter-options.ts';
import { type Abortable, Listening } from './listening.ts';

/** Where the requests of one limiter get their tickets, and the gates that they pass. */
export interface Route<T = unknown> {
  readonly intake: Pick<Intake<T>, 'ticket' | 'abandoned'>;
  readonly first: Gate;
  readonly rest: readonly Gate[];
}

/** What a promise user has said of a request. */
export type Said = Pick<AcquireOptions, 'bytes' | 'tokens' | 'priority' | 'costs'>;

/** A request of which nothing is said has no size. */
const NOTHING: Said = { bytes: 0, tokens: 0 };

/** To make its ticket may abort the request, which is counted by then. */
const IN_THE_MAKING = 'in the making';

/**
 * A request of a promise user on its way through the gates, one after the other. An abort takes it
 * out of the queue where it waits.
 */
export abstract class Walk<T, R extends Route<T> = Route<T>> implements Receiver, Abortable {
  gone = false;
  protected readonly route: R;
  readonly #said: Said;
  #ticket: Ticket<T> | typeof IN_THE_MAKING | undefined;
  /** The gate where the request waits; undefined while it does not. */
  #waitsAt: Gate | undefined = undefined;
  #listening: Listening | undefined = undefined;

  /**
   * @param ticket undefined: one is made when the request's turn comes
   * @param said what is known of the request then; checked
   */
  constructor(ticket: Ticket<T> | undefined, route: R, said: Said = NOTHING) {
    this.#ticket = ticket;
    this.#said = said;
    this.route = route;
    ticket?.take(this);
  }

  /** For queues where it waits without a ticket. */
  get priority(): number {
    return this.#said.priority ?? 0;
  }

  /** All gates are behind the request. */
  protected abstract arrived(ticket: Ticket<T>): void;

  /** The user has aborted, while the request waited or later, or a limit has refused the request. */
  protected abstract failed(reason: unknown): void;

  /** @param value the request itself, where it has no ticket yet */
  start(value: T, signal?: AbortSignal): void {
    const ticket = this.#ticket;
    if (signal?.aborted) {
      if (ticket === undefined) this.route.intake.abandoned(1);
      this.abort(signal.reason);
      return;
    }
    if (signal !== undefined) this.#listening = new Listening(signal, this);
    const { first } = this.route;
    if (ticket instanceof Ticket) {
      if (first.enter(ticket, this)) this.admitted(ticket);
      else this.#waitsAt = first;
    } else {
      const passed = first.enterLater(value, this);
      if (passed === undefined) this.#waitsAt = this.gone ? undefined : first;
      else this.admitted(passed as Ticket<T>);
    }
  }

  ticketOf(value: T, arrivedAt: number): Ticket<T> | undefined {
    this.#ticket = IN_THE_MAKING;
    const ticket = this.ticketFor(value, arrivedAt);
    this.#ticket = ticket;
    ticket?.take(this);
    return ticket;
  }

  /** Makes the ticket when the request's turn comes. Undefined: that failed, and the request is gone. */
  protected ticketFor(value: T, arrivedAt: number): Ticket<T> | undefined {
    const said = this.#said;
    // Fractions are rounded up, so that sums of sizes stay exact.
    const tokens = said.tokens === undefined ? undefined : Math.ceil(said.tokens);
    return this.route.intake.ticket(value, Math.ceil(said.bytes ?? 0), tokens, arrivedAt, said);
  }

  /** One gate is passed: to the next. */
  admitted(ticket: Ticket<T>): void {
    const { first, rest } = this.route;
    const waitedAt = this.#waitsAt ?? first;
    this.#waitsAt = undefined;
    for (let next = rest.indexOf(waitedAt) + 1; !this.gone && next < rest.length; next += 1) {
      const gate = rest[next];
      if (!gate?.enter(ticket, this)) {
        this.#waitsAt = gate;
        return;
      }
    }
    if (this.gone) return;
    if (ticket.refusal === undefined) this.arrived(ticket);
    else this.refused(ticket, ticket.refusal);
  }

  abort(reason: unknown): void {
    const ticket = this.#ticket;
    this.end();
    this.gone = true;
    this.#waitsAt?.left(1);
    this.failed(reason);
    if (ticket instanceof Ticket) ticket.settle('cancelled');
    else if (ticket === undefined && this.#waitsAt !== undefined) this.route.intake.abandoned(1);
  }

  /** Whether its user may still abort it. */
  protected get isAbortable(): boolean {
    return this.#listening !== undefined;
  }

  /** The request has ended: there is nothing to abort any more. */
  protected end(): void {
    this.#ticket = undefined;
    this.#listening?.stop();
    this.#listening = undefined;
  }

  /** A limit has refused the request. */
  protected refused(ticket: Ticket<T>, error: Error): void {
    this.end();
    this.failed(error);
    ticket.settle('rejected');
  }
}
