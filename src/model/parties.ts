import type { Clock } from './clock.ts';
import type { SettleOutcome } from './outcome.ts';
import type { Ticket } from './ticket.ts';

/** Whoever lends something to tickets (a slot, bytes) and wants it back. */
export interface Lender {
  /** Takes back exactly what was charged to the ticket. Must not throw. */
  giveBack(charge: unknown, ticket: Ticket): void;
}

/** Whoever minds how long a request waits for its first attempt. */
export interface Patience {
  /** The request waits no longer: it is sent, or has ended. */
  end(): void;
}

/** Whoever waits for requests to be admitted. */
export interface Receiver {
  /** Whether it has gone, with all that it had in queues. */
  readonly gone: boolean;
  /**
   * Makes the ticket of something that has waited without one.
   * @param reply what came with the item, if anything did
   * @returns undefined if that cannot be done; then the receiver has gone
   */
  ticketOf?(item: unknown, arrivedAt: number, reply?: unknown): Ticket | undefined;
  admitted(ticket: Ticket): void;
  /** Of what waits without a ticket: a higher one goes first. Default 0. */
  readonly priority?: number;
}

/** What the tickets of one subscription or limiter share. */
export interface Origin {
  readonly clock: Clock;
  tokensOf(value: unknown, bytes: number): number;
  /** A ticket has ended, and all that it held was given back. Must not throw. */
  settled(ticket: Ticket, outcome: SettleOutcome): void;
}
