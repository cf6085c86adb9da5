import { equal, ok } from 'node:assert/strict';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Instrumentation } from '../../../src/model/instrumentation.ts';
import type { Ticket } from '../../../src/model/ticket.ts';
import { ruledGates } from '../../support/ruled-gate.ts';
import { runs } from '../../support/runs.ts';
import { stepCount } from '../../support/steps.ts';
import { Waiter } from '../../support/waiter.ts';

/** A probe whose listeners are set later. */
function listening() {
  const listeners: { -readonly [name in keyof Instrumentation]: Instrumentation[name] } = {};
  const instrumentation: Instrumentation = {
    queued: (...args) => listeners.queued?.(...args),
    admitted: (...args) => listeners.admitted?.(...args),
    changed: (...args) => listeners.changed?.(...args),
  };
  return { listeners, instrumentation };
}

describe('a callback of a gate may call the gate again', () => {
  it('while the head is decided on, with a newcomer that drops a waiter', () => {
    const { listeners, instrumentation } = listening();
    const options = { maxQueue: 2, overflow: 'drop-oldest', instrumentation } as const;
    const { clock, ticket, byteRateGate } = ruledGates(options);
    const { gate } = byteRateGate(10);
    const waiter = new Waiter();
    for (const bytes of [6, 6, 6]) gate.enter(ticket({ bytes }), waiter);
    const newcomers = [ticket({ bytes: 1 }), ticket({ bytes: 1 })];
    listeners.changed = () => {
      listeners.changed = undefined;
      for (const newcomer of newcomers) gate.enter(newcomer, waiter);
    };
    clock.advance(1_000);
    // The second is the head when it is found not to fit: it stays, and the last newcomer goes.
    expect(newcomers[1]?.refusal).toMatchObject({ code: 'QUEUE_FULL' });
    clock.runAll();
    expect(waiter.order).toEqual([1, 2, 3]);
    expect(gate.waiting).toBe(0);
  });

  it('while a newcomer is decided on, with another: neither waits too long', () => {
    const { listeners, instrumentation } = listening();
    const { clock, ticket, byteRateGate } = ruledGates({ instrumentation });
    const { gate } = byteRateGate(10);
    const waiter = new Waiter();
    gate.enter(ticket({ bytes: 5 }), waiter);
    clock.advance(500);
    gate.enter(ticket({ bytes: 5 }), waiter);
    const [large, small] = [ticket({ bytes: 10 }), ticket({ bytes: 1 })];
    listeners.changed = () => {
      listeners.changed = undefined;
      gate.enter(small, waiter);
    };
    gate.enter(large, waiter);
    clock.advance(500);
    expect(waiter.tickets).toEqual([small]);
    clock.runAll();
    expect(clock.now()).toBe(2_000);
    expect(waiter.tickets).toEqual([small, large]);
  });

  it('while the head is admitted, with a more urgent request and a snapshot', () => {
    const { listeners, instrumentation } = listening();
    const { ticket, slotGate } = ruledGates({ isPrioritized: true, instrumentation });
    const gate = slotGate(1);
    const waiter = new Waiter((admitted) => void admitted.settle('ok'));
    const holder = ticket();
    gate.enter(holder, waiter);
    for (let n = 0; n < 3; n += 1) gate.enter(ticket(), waiter);
    listeners.admitted = () => {
      listeners.admitted = undefined;
      gate.enter(ticket({ priority: 9 }), waiter);
      expect(gate.snapshot().waiting).toBe(4);
    };
    holder.settle('ok');
    expect(waiter.order).toEqual([1, 4, 2, 3]);
    expect(gate.snapshot()).toMatchObject({ waiting: 0, inFlight: 0 });
  });

  it('while an urgent newcomer passes, by a release or by leaving', () => {
    for (const leaves of [false, true]) {
      const { listeners, instrumentation } = listening();
      const { clock, ticket, byteRateGate } = ruledGates({ isPrioritized: true, instrumentation });
      const { gate } = byteRateGate(10);
      const [waiter, leaving] = [new Waiter(), new Waiter()];
      const holder = ticket({ bytes: 4 });
      gate.enter(holder, waiter);
      gate.enter(ticket({ bytes: 9 }), waiter);
      gate.enter(ticket({ bytes: 1 }), leaving);
      listeners.admitted = () => {
        listeners.admitted = undefined;
        leaving.gone = leaves;
        if (leaves) gate.left(leaving);
        // It was never sent: what it has taken comes back.
        holder.settle('cancelled');
      };
      const urgent = ticket({ bytes: 1, priority: 1 });
      // It has passed before the gate comes back from it.
      expect(gate.enter(urgent, waiter)).toBe(false);
      expect(waiter.order).toContain(3);
      clock.advance(0);
      expect(waiter.order.filter((each) => each !== 3)).toEqual([1]);
      expect(leaving.order).toEqual([]);
      clock.advance(1_000);
      expect(leaving.order).toEqual(leaves ? [] : [2]);
      expect(gate.waiting).toBe(0);
      expect(clock.pendingTimers).toBe(0);
    }
  });

  it('in every way, without losing or doubling a request, and within the limit', () => {
    const act = fc.record({
      what: fc.constantFrom('enter', 'settle', 'leave', 'look', 'nothing', 'nothing'),
      number: fc.nat(7),
    });
    const setup = fc.record({
      isPrioritized: fc.boolean(),
      maxQueue: fc.constantFrom(1, 4, 1_000),
      overflow: fc.constantFrom('error' as const, 'drop-oldest' as const, 'drop-newest' as const),
    });
    const count = stepCount('reentry');
    fc.assert(
      fc.property(setup, fc.array(act, { maxLength: 80 }), fc.array(act), (options, acts, told) => {
        count.add(acts);
        const { listeners, instrumentation } = listening();
        const { clock, ticket, slotGate } = ruledGates({ ...options, instrumentation });
        const tells = told.slice();
        const gate = slotGate(2);
        const held = new Set<Ticket>();
        const waiting = new Set<Ticket>();
        const passed = new Set<Ticket>();
        const pass = (admitted: Ticket) => {
          // At each step with `node:assert`: `expect` takes a hundred times as long.
          equal(passed.has(admitted), false);
          passed.add(admitted);
          waiting.delete(admitted);
          if (admitted.refusal === undefined) held.add(admitted);
          if (admitted.refusal === undefined) ok(held.size <= 2);
        };
        const receivers = new Map<Ticket, Waiter>();
        const play = ({ what, number }: { what: string; number: number }) => {
          if (what === 'look') gate.snapshot();
          if (what === 'settle') {
            const ending = [...held][number % (held.size || 1)];
            if (ending !== undefined) held.delete(ending);
            ending?.settle('ok');
          }
          if (what === 'enter') {
            const newcomer = ticket({ priority: number % 3 });
            const receiver = new Waiter(pass);
            receivers.set(newcomer, receiver);
            if (gate.enter(newcomer, receiver)) pass(newcomer);
            else if (!receiver.gone && !passed.has(newcomer)) waiting.add(newcomer);
          }
          if (what === 'leave') {
            const leaving = [...waiting][number % (waiting.size || 1)];
            const receiver = leaving && receivers.get(leaving);
            if (leaving === undefined || receiver === undefined) return;
            waiting.delete(leaving);
            receiver.gone = true;
            gate.left(receiver);
            leaving.settle('cancelled');
          }
        };
        let depth = 0;
        const tell = () => {
          const next = depth < 3 ? tells.shift() : undefined;
          depth += 1;
          if (next !== undefined) play(next);
          depth -= 1;
        };
        listeners.admitted = tell;
        listeners.queued = tell;
        for (const each of acts) {
          play(each);
          clock.advance(0);
          equal(gate.waiting, waiting.size);
          equal(gate.policy.inFlight, held.size);
          if (waiting.size > 0) equal(held.size, 2);
        }
        while (held.size > 0) {
          play({ what: 'settle', number: 0 });
          clock.advance(0);
        }
        expect([waiting.size, gate.waiting]).toEqual([0, 0]);
        expect(gate.policy.inFlight).toBe(0);
      }),
      { numRuns: runs(1_000) },
    );
    count.expectEnough();
  });
});
