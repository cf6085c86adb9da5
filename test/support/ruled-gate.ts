import type { Instrumentation } from '../../src/model/instrumentation.ts';
import type { GateKind } from '../../src/model/outcome.ts';
import type { PolicyEvent } from '../../src/model/policy-events.ts';
import { Ticket } from '../../src/model/ticket.ts';
import { Composite } from '../../src/policies/composite.ts';
import { ConcurrencyPolicy } from '../../src/policies/concurrency-policy.ts';
import type { Policy } from '../../src/policies/policy.ts';
import { RateLimits } from '../../src/policies/rate-limit/rate-limits.ts';
import { type OnLimit, RateLimitPolicy } from '../../src/policies/rate-limit-policy.ts';
import { Gate } from '../../src/queue/gate.ts';
import type { GateRules } from '../../src/queue/gate-rules.ts';
import { queueRulesOf } from '../../src/request/gate-opener.ts';
import type { QueueOptions } from '../../src/request/gate-options.ts';
import { ManualClock } from '../../src/simulator/manual-clock.ts';
import type { Clock, Timer } from '../../src/util/clock.ts';
import { originOf } from './waiter.ts';

/** A clock that counts its calls. */
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
  readonly instrumentation?: Instrumentation;
  readonly check?: GateRules['check'];
}

/** Gates in virtual time that share the options of a queue, and tickets numbered from 0. */
export function ruledGates({
  isPrioritized = false,
  instrumentation,
  check,
  ...options
}: RuledOptions = {}) {
  const clock = new ManualClock();
  const queues = queueRulesOf(options, clock, isPrioritized);
  const rules = { ...queues, ...(check && { check }) };
  const gate = <C extends Policy>(kind: GateKind, policy: C) =>
    new Gate(kind, policy, clock, instrumentation, rules);
  let index = 0;
  const ticket = ({ bytes = 0, priority = 0 } = {}): Ticket<number> => {
    const made = new Ticket(
      originOf(clock, instrumentation),
      index,
      bytes,
      undefined,
      index,
      clock.now(),
    );
    made.priority = priority;
    index += 1;
    return made;
  };
  const slotGate = (limit: number) => gate('concurrency', new ConcurrencyPolicy(limit, 1));
  /** A limit of bytes in each second. */
  const byteRateGate = (limit: number, onLimit: OnLimit = 'wait') => {
    const facts: PolicyEvent[] = [];
    const limits = new RateLimits({ bytes: { limit, windowMs: 1_000 } });
    const tell = (fact: PolicyEvent) => {
      facts.push(fact);
      instrumentation?.changed?.(fact);
    };
    const policy = new RateLimitPolicy(limits, { onLimit, refundRejected: false }, tell);
    const closed = { untilMs: 0 };
    const closing: Policy = {
      wait: (_demand, now) => Math.max(0, closed.untilMs - now),
      take: () => 0,
      giveBack: () => undefined,
      snapshot: () => ({}),
    };
    const both = new Composite([
      { kind: 'backoff', policy: closing },
      { kind: 'rateLimit', policy: policy },
    ]);
    return { gate: gate('rateLimit', both), policy, facts, closed };
  };
  return { clock, queues, ticket, slotGate, byteRateGate };
}
