import type { Ticket } from '../model/ticket.ts';
import type { AdmissionCallback } from './admission-callback.ts';

/** Tells an owner. Its error must neither stop a queue nor reach the code that gave something back. */
export function notifyAdmitted(owner: AdmissionCallback, ticket: Ticket): void {
  try {
    owner.admitted(ticket);
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
