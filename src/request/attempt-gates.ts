import type { Ticket } from '../model/ticket.ts';
import type { Gate } from '../queue/gate.ts';

/** The gates of operators that limit attempts rather than requests, by the tickets that passed them. */
const passed = new WeakMap<Ticket, readonly Gate[]>();

/** Has each further attempt of the request pass this gate again. */
export function passesAgain(ticket: Ticket, gate: Gate): void {
  passed.set(ticket, [...(passed.get(ticket) ?? []), gate]);
}

export function attemptGatesOf(ticket: Ticket): readonly Gate[] | undefined {
  return passed.get(ticket);
}
