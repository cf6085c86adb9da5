import type { Probe } from '../model/probe.ts';
import type { Ticket } from '../model/ticket.ts';

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
  /** Told of the waits of its requests at a gate that several share. */
  readonly probe?: Probe | undefined;
}
