import type { Receiver } from '../model/parties.ts';
import type { Ticket } from '../model/ticket.ts';

/** Tells a receiver. Its error must neither stop a queue nor reach whoever gave something back. */
export function handOver(receiver: Receiver, ticket: Ticket): void {
  try {
    receiver.admitted(ticket);
  } catch (error) {
    reportLater(error);
  }
}

/** Throws where nobody's work is disturbed. */
export function reportLater(error: unknown): void {
  queueMicrotask(() => {
    throw error;
  });
}
