import type { Instrumentation } from '../model/instrumentation.ts';
import { partsOf } from '../model/join-instrumentations.ts';
import type { Ticket } from '../model/ticket.ts';

/**
 * Has a probe observe a ticket that was made elsewhere until its end, where it does not yet: gates of
 * one stream may have different probes, and each must learn of the end of what it has seen.
 */
export function observeTicket(ticket: Ticket, instrumentation: Instrumentation | undefined): void {
  if (instrumentation === undefined || instrumentation === ticket.probe) return;
  const first = ticket.probe === undefined ? [] : partsOf(ticket.probe);
  const told: readonly object[] = [...first, ...(ticket.observers ?? [])];
  const more = partsOf(instrumentation).filter((part) => !told.includes(part));
  if (more.length === 0) return;
  ticket.observers = [...(ticket.observers ?? []), ...more];
  for (const part of more) part.arrived?.(ticket);
}
