import type { Ticket } from '../model/ticket.ts';
import type { AdmissionCallback } from './admission-callback.ts';

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
