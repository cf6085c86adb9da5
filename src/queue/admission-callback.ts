import type { Instrumentation } from '../model/instrumentation.ts';
import type { Ticket } from '../model/ticket.ts';

/** Brings requests to a gate, and is called when they may pass. */
export interface AdmissionCallback {
  /** Whether it has ended, and with it all its requests in queues. */
  readonly gone: boolean;
  /** How many of its requests are in the queue of a gate. Starts at 0; only the gate changes it. */
  queued: number;
  /** Whether its requests were sent before, so that they keep their slot and bytes. */
  readonly isRetry?: boolean;
  /**
   * Makes the ticket of an item that waited without one.
   * @param reply the reply that came with the item, if any
   * @returns undefined if that fails; then the owner has ended
   */
  ticketOf?(item: unknown, arrivedAt: number, reply?: unknown): Ticket | undefined;
  /** The request may pass, or was refused for good. */
  admitted(ticket: Ticket): void;
  /** The priority of an item that waits without a ticket; the highest goes first. Default 0. */
  readonly priority?: number;
  /** Whether its requests are calls of a limiter. Default false: they are those of a stream. */
  readonly isCall?: boolean;
  /** Told of the waits of its requests at a gate that several share. */
  readonly instrumentation?: Instrumentation | undefined;
}

/**
 * Calls an owner. Its error must neither stop a queue nor reach the code that gave a lease back.
 */
export function notifyAdmitted(owner: AdmissionCallback, ticket: Ticket): void {
  try {
    owner.admitted(ticket);
  } catch (error) {
    reportLater(error);
  }
}

/** Throws the error in a turn of its own, where it interrupts no other work. */
export function reportLater(error: unknown): void {
  queueMicrotask(() => {
    throw error;
  });
}
