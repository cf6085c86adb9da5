import type { Clock } from './clock.ts';
import type { SettleOutcome } from './outcome.ts';
import type { Ticket } from './ticket.ts';

/** Lends something to tickets (a slot, bytes), and takes it back. */
export interface LeaseIssuer {
  /** Takes back exactly what was charged to the ticket. Must not throw. */
  giveBack(charge: unknown, ticket: Ticket): void;
}

/** Bounds how long a request waits for its first attempt. */
export interface WaitTimeout {
  /** The request waits no longer: it is sent, or has ended. */
  end(): void;
}

/** Is told of the end of a request. */
export interface EndObserver {
  settled?(ticket: Ticket, outcome: SettleOutcome): void;
}

/** What the tickets of one subscription or limiter share. */
export interface TicketOwner {
  readonly clock: Clock;
  /** Told of the end of its tickets, by `settled`. */
  readonly probe?: EndObserver | undefined;
  tokensOf(value: unknown, bytes: number): number;
  /** A ticket has ended, and all that it held was given back. Must not throw. */
  settled(ticket: Ticket, outcome: SettleOutcome): void;
}
