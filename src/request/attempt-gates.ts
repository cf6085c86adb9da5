import type { Ticket } from '../model/ticket.ts';
import type { Gate } from '../queue/gate.ts';

/** By ticket, the gates of operators that limit attempts, not requests. */
const passed = new WeakMap<Ticket, readonly Gate[]>();

/** Makes each further attempt of the request pass this gate again. */
export function passesAgain(ticket: Ticket, gate: Gate): void {
  passed.set(ticket, [...(passed.get(ticket) ?? []), gate]);
}

export function attemptGatesOf(ticket: Ticket): readonly Gate[] | undefined {
  return passed.get(ticket);
}
