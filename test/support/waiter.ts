import type { Instrumentation } from '../../src/model/instrumentation.ts';
import type { TicketOwner } from '../../src/model/ticket.ts';
import { Ticket } from '../../src/model/ticket.ts';
import type { RequestCost } from '../../src/policies/policy.ts';
import type { AdmissionCallback } from '../../src/queue/waiting-requests.ts';
import { ManualClock } from '../../src/simulator/manual-clock.ts';

/** The context of tickets: a clock that stands still, and four bytes a token. */
export function originOf(
  clock = new ManualClock(),
  instrumentation?: Instrumentation,
): TicketOwner {
  return {
    clock,
    tokensOf: (_value, bytes) => Math.ceil(bytes / 4),
    settled: (ticket, outcome) => instrumentation?.settled?.(ticket, outcome),
  };
}

/** Makes tickets numbered from 0, with their number as value. */
export function ticketMaker(
  clock: ManualClock,
  instrumentation?: Instrumentation,
): (bytes?: number) => Ticket<number> {
  const origin = originOf(clock, instrumentation);
  let index = 0;
  return (bytes = 0) => {
    const ticket = new Ticket(origin, index, bytes, undefined, index, clock.now());
    index += 1;
    return ticket;
  };
}

/** A listener of any number of tickets, which records the order of their admission. */
export class Waiter implements AdmissionCallback {
  gone = false;
  queued = 0;
  readonly tickets: Ticket[] = [];
  readonly #then: (ticket: Ticket) => void;

  /** @param then called in the same turn as the admission */
  constructor(then: (ticket: Ticket) => void = () => {}) {
    this.#then = then;
  }

  admitted(ticket: Ticket): void {
    this.tickets.push(ticket);
    this.#then(ticket);
  }

  /** The numbers of admitted tickets, in order. */
  get order(): unknown[] {
    return this.tickets.map((ticket) => ticket.value);
  }
}

/** A receiver that makes tickets when their turn comes. */
export class LateWaiter extends Waiter {
  readonly #make: (item: unknown, arrivedAt: number) => Ticket | undefined;

  constructor(
    make: (item: unknown, arrivedAt: number) => Ticket | undefined,
    then?: (ticket: Ticket) => void,
  ) {
    super(then);
    this.#make = make;
  }

  ticketOf(item: unknown, arrivedAt: number): Ticket | undefined {
    return this.#make(item, arrivedAt);
  }
}

/** The cost of a request of some size, for policies without a ticket. */
export const demand = (bytes = 0): RequestCost => ({ bytes, tokens: 0 });

/** A provider mode that tests set by hand. */
export const modeUntil = (throttledUntil: number) => ({ throttledUntil });
