import { Composite } from '../../src/core/composite.ts';
import type { Core } from '../../src/core/core.ts';
import { type OnLimit, RateCore } from '../../src/core/rate-core.ts';
import { RateLimits } from '../../src/core/rate-limit/rate-limits.ts';
import { Slots } from '../../src/core/slots.ts';
import type { Clock, Timer } from '../../src/model/clock.ts';
import type { CoreFact } from '../../src/model/facts.ts';
import type { GateKind } from '../../src/model/outcome.ts';
import type { Probe } from '../../src/model/probe.ts';
import { Ticket } from '../../src/model/ticket.ts';
import { Gate } from '../../src/queue/gate.ts';
import type { GateRules } from '../../src/queue/gate-rules.ts';
import { type QueueOptions, Queues } from '../../src/request/queue-options.ts';
import { ManualClock } from '../../src/simulator/manual-clock.ts';
import { originOf } from './waiter.ts';

/** A clock that counts what is asked of it. */
export class CountedClock implements Clock {
  reads = 0;
  timers = 0;
  readonly clock = new ManualClock();

  now(): number {
    this.reads += 1;
    return this.clock.now();
  }

  setTimer(callback: () => void, delayMs: number): Timer {
    this.timers += 1;
    return this.clock.setTimer(callback, delayMs);
  }
}

export interface RuledOptions extends QueueOptions {
  readonly isPrioritized?: boolean;
  readonly probe?: Probe;
  readonly check?: GateRules['check'];
}

/** Gates in virtual time that share a queue's options, and tickets for them, numbered from 0. */
export function ruledGates({ isPrioritized = false, probe, check, ...options }: RuledOptions = {}) {
  const clock = new ManualClock();
  const queues = new Queues(options, clock);
  const rules = { ...queues.rules(isPrioritized), ...(check && { check }) };
  const gate = <C extends Core>(kind: GateKind, core: C) =>
    new Gate(kind, core, clock, probe, rules);
  let index = 0;
  const ticket = ({ bytes = 0, priority = 0 } = {}): Ticket<number> => {
    const made = new Ticket(originOf(clock, probe), index, bytes, undefined, index, clock.now());
    made.priority = priority;
    index += 1;
    return made;
  };
  const slotGate = (limit: number) => gate('concurrency', new Slots(limit, 1));
  /** So many bytes in each second. */
  const byteRateGate = (limit: number, onLimit: OnLimit = 'wait') => {
    const facts: CoreFact[] = [];
    const limits = new RateLimits({ bytes: { limit, windowMs: 1_000 } });
    const tell = (fact: CoreFact) => {
      facts.push(fact);
      probe?.changed?.(fact);
    };
    const core = new RateCore(limits, { onLimit, refundRejected: false }, tell);
    const closed = { untilMs: 0 };
    const closing: Core = {
      wait: (_demand, now) => Math.max(0, closed.untilMs - now),
      take: () => 0,
      giveBack: () => undefined,
      snapshot: () => ({}),
    };
    const both = new Composite([
      { kind: 'backoff', core: closing },
      { kind: 'rateLimit', core },
    ]);
    return { gate: gate('rateLimit', both), core, facts, closed };
  };
  return { clock, queues, ticket, slotGate, byteRateGate };
}
