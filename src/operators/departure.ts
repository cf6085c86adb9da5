import { Subscriber, UnsubscriptionError } from 'rxjs';
import { ResponseError } from '../model/errors.ts';
import type { Outcome, SettleOutcome } from '../model/outcome.ts';
import { type Enlisted, Roster } from '../model/roster.ts';
import { isTicket, type Ticket } from '../model/ticket.ts';
import type { Deck, Dispatcher } from './dispatcher.ts';
import { Flight } from './flight.ts';
import { InOrder, type Slot } from './in-order.ts';
import type { Arrival, Intake } from './intake.ts';
import type { ResultOptions } from './send-options.ts';

/** One of a stream's requests that is being sent. */
class StreamFlight<T, R> extends Flight<T, R> implements Enlisted<StreamFlight<T, R>> {
  /** Its neighbours among the flights of one subscription. */
  before: StreamFlight<T, R> | undefined = undefined;
  after: StreamFlight<T, R> | undefined = undefined;
  /** Its place in the order of results, if they are ordered. */
  slot: Slot<R | Outcome<T, R>> | undefined = undefined;
  /** What it has emitted last, if that is kept. */
  last: R | undefined = undefined;
}

/** Sends requests, and hands their results downstream. */
export class Departure<T, R> extends Subscriber<Arrival<T>> implements Deck<T, R> {
  protected readonly out: Subscriber<R | Outcome<T, R>>;
  private readonly outcomes: boolean;
  private readonly order: InOrder<R | Outcome<T, R>> | undefined;
  private readonly flights = new Roster<StreamFlight<T, R>>();
  private sourceDone: boolean;

  constructor(
    out: Subscriber<R | Outcome<T, R>>,
    { outcomes = false, ordered = false }: ResultOptions,
  ) {
    super(out);
    this.out = out;
    this.outcomes = outcomes;
    // Here for the reason that `Passage` tells.
    this.sourceDone = false;
    this.order = ordered ? new InOrder(out) : undefined;
    out.add(() => this.close());
  }

  /** A place in the order of results for a request that is still to come. */
  reserve(): Slot<R | Outcome<T, R>> | undefined {
    return this.order?.open();
  }

  /** Sends a ticket that was taken over. */
  send(ticket: Ticket<T>, dispatcher: Dispatcher<T, R>, slot = this.reserve()): void {
    // Whoever was told of its arrival may have unsubscribed.
    if (this.out.closed) {
      ticket.settle('cancelled');
      return;
    }
    const flight = new StreamFlight(ticket, dispatcher, this);
    this.flights.add(flight);
    flight.slot = slot;
    if (slot !== undefined) slot.carry = flight.carry;
    flight.send();
  }

  protected override _error(error: unknown): void {
    this.out.error(error);
  }

  protected override _complete(): void {
    this.sourceDone = true;
    try {
      this.completeIfDone();
    } finally {
      this.unsubscribe();
    }
  }

  /** From the start of the teardown: one that is cancelled may let another pass that waits. */
  get gone(): boolean {
    return this.out.closed;
  }

  /** They are torn down in this order; `project` may have sent others meanwhile. */
  subscribing(flight: StreamFlight<T, R>): void {
    this.flights.remove(flight);
    this.flights.add(flight);
  }

  value(flight: StreamFlight<T, R>, value: R): void {
    if (this.outcomes) flight.last = value;
    else this.emit(flight, value);
  }

  landed(flight: StreamFlight<T, R>): void {
    if (this.outcomes && flight.refusal !== undefined) {
      this.crashed(flight, new ResponseError(flight.refusal));
      return;
    }
    this.flights.remove(flight);
    if (this.outcomes) {
      const { ticket, last } = flight;
      // A request whose Observable was empty has no value: `undefined` stands for it.
      const value = last as R;
      this.emit(flight, {
        status: 'ok',
        value,
        request: ticket.value,
        stats: ticket.stats(),
      });
    }
    this.finish(flight, 'ok');
  }

  crashed(flight: StreamFlight<T, R>, error: unknown): void {
    try {
      // Downstream closes, and what is in flight is torn down in the order in which it was sent.
      if (this.outcomes) flight.release();
      else {
        const { carry } = flight;
        if (carry === undefined) this.out.error(error);
        else carry(() => this.out.error(error));
      }
    } finally {
      if (this.outcomes) {
        const { ticket } = flight;
        this.emit(flight, {
          status: 'failed',
          error,
          request: ticket.value,
          stats: ticket.stats(),
        });
        // Not before: what its teardown ends must not be taken for the last.
        this.flights.remove(flight);
      }
      this.finish(flight, 'failed');
    }
  }

  private emit({ slot, carry }: StreamFlight<T, R>, result: R | Outcome<T, R>): void {
    if (slot === undefined) {
      if (carry === undefined) this.out.next(result);
      else carry(() => this.out.next(result));
    } else {
      this.order?.push(slot, result);
      // The request may have ended while its result was handed on.
      this.completeIfDone();
    }
  }

  private finish(flight: StreamFlight<T, R>, outcome: 'ok' | 'failed'): void {
    if (flight.slot !== undefined) this.order?.close(flight.slot);
    flight.ticket.settle(endOf(flight.ticket, outcome));
    this.completeIfDone();
  }

  private completeIfDone(): void {
    if (!this.sourceDone || this.flights.first !== undefined) return;
    if (this.order === undefined || this.order.idle) this.out.complete();
  }

  /** Downstream has closed, whyever: what is in flight is abandoned. */
  private close(): void {
    const errors: unknown[] = [];
    for (let flight = this.flights.first; flight !== undefined; flight = this.flights.first) {
      this.flights.remove(flight);
      try {
        flight.cancel();
      } catch (error) {
        errors.push(error);
      }
    }
    if (errors.length > 0) throw new UnsubscriptionError(errors);
  }
}

/** A request that failed without having been sent was rejected. */
export function endOf(ticket: Ticket, outcome: 'ok' | 'failed'): SettleOutcome {
  return ticket.refusal !== undefined && ticket.attempts === 0 ? 'rejected' : outcome;
}

/** Sends all that arrives in one way: the subscriber behind `dispatch`. */
export class DirectDeparture<T, R> extends Departure<T, R> {
  private readonly intake: Intake<T>;
  private readonly dispatcher: Dispatcher<T, R>;

  constructor(
    out: Subscriber<R | Outcome<T, R>>,
    intake: Intake<T>,
    dispatcher: Dispatcher<T, R>,
    results: ResultOptions,
  ) {
    super(out, results);
    this.intake = intake;
    this.dispatcher = dispatcher;
  }

  protected override _next(arrival: Arrival<T>): void {
    let ticket: Ticket<T>;
    try {
      ticket = isTicket(arrival) ? arrival : this.intake.ticketOf(arrival, this.intake.clock.now());
      ticket.take(this);
    } catch (error) {
      this.out.error(error);
      return;
    }
    this.send(ticket, this.dispatcher);
  }
}
