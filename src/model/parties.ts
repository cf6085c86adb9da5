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

/** Is told when the requests that it has brought to a gate are let pass. */
export interface AdmissionCallback {
  /** Whether it has gone, with all that it had in queues. */
  readonly gone: boolean;
  /** How many of its requests are in the queue of a gate: at first 0, kept by the gate alone. */
  queued: number;
  /** Whether what it brings was sent before, and keeps what a request holds over its attempts. */
  readonly isRetry?: boolean;
  /**
   * Makes the ticket of something that has waited without one.
   * @param reply what came with the item, if anything did
   * @returns undefined if that cannot be done; then the owner has gone
   */
  ticketOf?(item: unknown, arrivedAt: number, reply?: unknown): Ticket | undefined;
  /** The request may pass; or it was refused, and never will. */
  admitted(ticket: Ticket): void;
  /** Of what waits without a ticket: a higher one goes first. Default 0. */
  readonly priority?: number;
}

/** What the tickets of one subscription or limiter share. */
export interface TicketOwner {
  readonly clock: Clock;
  tokensOf(value: unknown, bytes: number): number;
  /** A ticket has ended, and all that it held was given back. Must not throw. */
  settled(ticket: Ticket, outcome: SettleOutcome): void;
}
