import { Slots } from '../../src/core/slots.ts';
import type { Probe } from '../../src/model/probe.ts';
import type { Ticket } from '../../src/model/ticket.ts';
import { Gate } from '../../src/queue/gate.ts';
import { ManualClock } from '../../src/simulator/manual-clock.ts';
import { ticketMaker } from './waiter.ts';

export interface SlotGate {
  readonly clock: ManualClock;
  readonly slots: Slots;
  readonly gate: Gate<Slots>;
  /** A ticket that nobody holds; numbered from 0. */
  readonly ticket: (bytes?: number) => Ticket<number>;
  /** Until when the provider's mode is throttled. */
  readonly mode: { throttledUntil: number };
}

/** A gate of some slots in virtual time, with one throttled slot. */
export function slotGate(limit: number, probe?: Probe): SlotGate {
  const clock = new ManualClock();
  const mode = { throttledUntil: Number.NEGATIVE_INFINITY };
  const slots = new Slots(limit, 1, mode);
  const gate = new Gate('concurrency', slots, clock, probe);
  return { clock, slots, gate, ticket: ticketMaker(clock), mode };
}
