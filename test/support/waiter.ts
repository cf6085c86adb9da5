import type { Instrumentation } from '../../src/model/instrumentation.ts';
import type { TicketOwner } from '../../src/model/ticket.ts';
import { Ticket } from '../../src/model/ticket.ts';
import type { RequestCost } from '../../src/policies/policy.ts';
import type { AdmissionCallback } from '../../src/queue/waiting-requests.ts';
import { ManualClock } from '../../src/simulator/manual-clock.ts';

/** What tickets need around them: a clock that stands still, and four bytes a token. */
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

/** Makes tickets that are numbered from 0, their value being their number. */
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

/** Somebody who waits for any number of tickets, and remembers in which order they came. */
export class Waiter implements AdmissionCallback {
  gone = false;
  queued = 0;
  readonly tickets: Ticket[] = [];
  readonly #then: (ticket: Ticket) => void;

  /** @param then what it does in the very turn in which it is told */
  constructor(then: (ticket: Ticket) => void = () => {}) {
    this.#then = then;
  }

  admitted(ticket: Ticket): void {
    this.tickets.push(ticket);
    this.#then(ticket);
  }

  /** The numbers of those that were admitted, in order. */
  get order(): unknown[] {
    return this.tickets.map((ticket) => ticket.value);
  }
}

/** A receiver that makes tickets when it is their turn. */
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

/** A request of some size, for policies that are asked without a ticket. */
export const demand = (bytes = 0): RequestCost => ({ bytes, tokens: 0 });

/** A provider's mode that tests set by hand. */
export const modeUntil = (throttledUntil: number) => ({ throttledUntil });
