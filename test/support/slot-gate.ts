import type { Instrumentation } from '../../src/model/instrumentation.ts';
import type { Ticket } from '../../src/model/ticket.ts';
import { ConcurrencyPolicy } from '../../src/policies/concurrency-policy.ts';
import { Gate } from '../../src/queue/gate.ts';
import { ManualClock } from '../../src/simulator/manual-clock.ts';
import { ticketMaker } from './waiter.ts';

export interface SlotGate {
  readonly clock: ManualClock;
  readonly slots: ConcurrencyPolicy;
  readonly gate: Gate<ConcurrencyPolicy>;
  /** Makes a ticket without a listener. Tickets are numbered from 0. */
  readonly ticket: (bytes?: number) => Ticket<number>;
  /** The end of throttled mode. */
  readonly mode: { throttledUntil: number };
}

/** A gate of some slots in virtual time, with one throttled slot. */
export function slotGate(limit: number, instrumentation?: Instrumentation): SlotGate {
  const clock = new ManualClock();
  const mode = { throttledUntil: Number.NEGATIVE_INFINITY };
  const slots = new ConcurrencyPolicy(limit, 1, mode);
  const gate = new Gate('concurrency', slots, clock, instrumentation);
  return { clock, slots, gate, ticket: ticketMaker(clock), mode };
}
