import { Subscriber } from 'rxjs';
import type { Outcome } from '../model/outcome.ts';
import { type Enlisted, Roster } from '../model/roster.ts';
import type { Sized } from '../model/sized.ts';
import type { Ticket } from '../model/ticket.ts';
import type { Departure } from '../operators/departure.ts';
import type { Dispatcher } from '../operators/dispatcher.ts';
import type { Slot } from '../operators/in-order.ts';
import type { Said } from './said.ts';
import { NOWHERE, type Trail, Walk } from './walk.ts';
import type { Way } from './way.ts';

/** A request of a stream on its way through the gates of its key. */
class Errand<T, R> extends Walk<T, Way<T, R>> implements Enlisted<Errand<T, R>>, Trail<T> {
  before: Errand<T, R> | undefined = undefined;
  after: Errand<T, R> | undefined = undefined;
  isGone = false;
  ticket: Trail<T>['ticket'] = undefined;
  waitsAt = NOWHERE;
  /** Its place in the order of results, if they are ordered. */
  readonly slot: Slot<R | Outcome<T, R>> | undefined;
  private readonly index: number;
  private readonly fork: Fork<T, R>;

  constructor(
    said: Said<Way<T, R>>,
    index: number,
    slot: Slot<R | Outcome<T, R>> | undefined,
    fork: Fork<T, R>,
  ) {
    super(said);
    this.index = index;
    this.slot = slot;
    this.fork = fork;
  }

  /** The end of its stream aborts it. */
  protected override get trail(): Trail<T> {
    return this;
  }

  /** Makes the ticket at once where somebody minds who waits. */
  begin(arrival: T): void {
    const { intake, first } = this.said.route;
    const needsTicket = intake.needsTickets || first.needsTickets;
    const ticket = needsTicket ? this.ticketOf(arrival, intake.clock.now()) : undefined;
    if (ticket !== undefined || !needsTicket) this.start(arrival, ticket);
  }

  /** An estimator that fails errors the stream, and so aborts this one too. */
  protected override ticketFor(arrival: T, arrivedAt: number): Ticket<T> | undefined {
    try {
      const ticket = this.said.route.intake.ticketOf(arrival, arrivedAt, this.index);
      if (!this.gone) return ticket;
      // The estimator has unsubscribed; whoever counts requests has counted this one.
      ticket.settle('cancelled');
    } catch (error) {
      this.fork.fail(error);
    }
    return undefined;
  }

  protected arrived(ticket: Ticket<T>): void {
    this.end();
    this.fork.arrived(this, ticket, this.said.route.dispatcher);
  }

  protected override refused(ticket: Ticket<T>): void {
    this.arrived(ticket);
  }

  protected failed(): void {}
}

/** Takes each request of a stream to the gates of its key, and those that have passed to the API. */
export class Fork<T, R> extends Subscriber<T | Sized<T>> {
  private readonly out: Subscriber<unknown>;
  private readonly departure: Departure<T, R>;
  private readonly wayOf: (arrival: T | Sized<T>) => Way<T, R>;
  private readonly errands = new Roster<Errand<T, R>>();
  private arrivals = 0;
  private sourceDone = false;

  /** @param wayOf what it throws errors the stream */
  constructor(
    out: Subscriber<unknown>,
    departure: Departure<T, R>,
    wayOf: (arrival: T | Sized<T>) => Way<T, R>,
  ) {
    super(departure);
    this.out = out;
    this.departure = departure;
    this.wayOf = wayOf;
    out.add(() => this.close());
  }

  protected override _next(arrival: T | Sized<T>): void {
    let way: Way<T, R>;
    try {
      way = this.wayOf(arrival);
    } catch (error) {
      this.out.error(error);
      return;
    }
    // A Sized is opened by the intake, when its turn comes.
    const slot = this.departure.reserve();
    const errand = new Errand(way.said, this.arrivals, slot, this);
    this.arrivals += 1;
    this.errands.add(errand);
    errand.begin(arrival as T);
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

  arrived(errand: Errand<T, R>, ticket: Ticket<T>, dispatcher: Dispatcher<T, R>): void {
    this.errands.remove(errand);
    this.departure.send(ticket, dispatcher, errand.slot);
    this.completeIfDone();
  }

  fail(error: unknown): void {
    this.out.error(error);
  }

  private completeIfDone(): void {
    if (this.sourceDone && this.errands.first === undefined) this.departure.complete();
  }

  private close(): void {
    for (let next = this.errands.first; next !== undefined; next = this.errands.first) {
      this.errands.remove(next);
      next.abort(undefined);
    }
  }
}
