import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Ticket } from '../../../src/model/ticket.ts';
import { holds } from '../../support/holds.ts';
import { ruledGates } from '../../support/ruled-gate.ts';
import { Waiter } from '../../support/waiter.ts';

/** A gate of one slot, by priority, that is taken until `free` is called. */
function takenGate(agingMs = 10_000) {
  const { clock, ticket, slotGate } = ruledGates({ isPrioritized: true, agingMs });
  const gate = slotGate(1);
  const order: number[] = [];
  const waiter = new Waiter((admitted) => {
    order.push(admitted.value as number);
    admitted.settle('ok');
  });
  const holder = ticket();
  gate.enter(holder, waiter);
  /** Its number. */
  const arrive = (priority: number): number => {
    const arriving = ticket({ priority });
    expect(gate.enter(arriving, waiter)).toBe(false);
    return arriving.value;
  };
  return { clock, gate, order, arrive, free: () => holder.settle('ok') };
}

describe('a gate by priority', () => {
  it('serves higher priorities first, and one priority in the order of arrival', () => {
    const { gate, order, arrive, free } = takenGate();
    const [low, high, middle, negative, high2, low2] = [0, 2, 1, -1, 2, 0].map(arrive);
    expect(gate.waiting).toBe(6);
    free();
    expect(order).toEqual([high, high2, middle, low, low2, negative]);
    expect(gate.snapshot()).toMatchObject({ waiting: 0, inFlight: 0 });
  });

  it.each([
    [999, true],
    [1_000, false],
    [1_001, false],
  ])('lets one of the next priority that comes %s ms later overtake: %s', (ms, overtakes) => {
    const { clock, order, arrive, free } = takenGate(1_000);
    const first = arrive(3);
    clock.advance(ms);
    const second = arrive(4);
    free();
    expect(order).toEqual(overtakes ? [second, first] : [first, second]);
  });

  it('lets one be overtaken by those alone that are more urgent than its wait has made it', () => {
    const arrival = fc.record({ afterMs: fc.nat(40), priority: fc.integer({ min: -3, max: 3 }) });
    fc.assert(
      fc.property(fc.array(arrival, { maxLength: 40 }), (arrivals) => {
        const agingMs = 10;
        const { clock, gate, order, arrive, free } = takenGate(agingMs);
        const came = arrivals.map(({ afterMs, priority }) => {
          clock.advance(afterMs);
          return { number: arrive(priority), at: clock.now(), priority };
        });
        free();
        expect(order).toHaveLength(came.length);
        came.forEach((early, index) => {
          for (const late of came.slice(index + 1)) {
            const overtakes = order.indexOf(late.number) < order.indexOf(early.number);
            const isUrgent = late.at - early.at < (late.priority - early.priority) * agingMs;
            holds(overtakes === isUrgent, early, late);
          }
        });
        expect(gate.snapshot()).toMatchObject({ waiting: 0, inFlight: 0 });
      }),
    );
  });
});

describe('a newcomer that is more urgent than the waiting head', () => {
  /** 8 of 10 bytes a second are taken, 4 until 1000 and 4 until 1500; the head needs 8. */
  function waitingHead(isPrioritized = true) {
    const { clock, ticket, byteRateGate } = ruledGates({ isPrioritized });
    const { gate } = byteRateGate(10);
    const waiter = new Waiter();
    gate.enter(ticket({ bytes: 4 }), waiter);
    clock.advance(500);
    gate.enter(ticket({ bytes: 4 }), waiter);
    const head = ticket({ bytes: 8 });
    expect(gate.enter(head, waiter)).toBe(false);
    expect(clock.nextTimerMs).toBe(1_500);
    const enter = (bytes: number, priority: number): [boolean, Ticket<number>] => {
      const newcomer = ticket({ bytes, priority });
      return [gate.enter(newcomer, waiter), newcomer];
    };
    return { clock, gate, waiter, head, enter };
  }

  it('passes at once if it fits, and delays the head only by its cost', () => {
    const { clock, gate, waiter, head, enter } = waitingHead();
    const [, urgent] = enter(2, 1);
    expect(waiter.order).toEqual([urgent.value]);
    expect(gate.snapshot()).toMatchObject({ waiting: 1, nextInMs: 1_000 });
    clock.advance(1_000);
    expect(waiter.order).toEqual([urgent.value, head.value]);
    expect(clock.pendingTimers).toBe(0);
  });

  it('becomes the head if it does not, and the timer is set for it; then for the next', () => {
    const { clock, gate, waiter, head, enter } = waitingHead();
    const [passed, urgent] = enter(6, 1);
    expect(passed).toBe(false);
    expect(clock.pendingTimers).toBe(1);
    expect(clock.nextTimerMs).toBe(1_000);
    clock.advance(500);
    expect(waiter.order).toEqual([urgent.value]);
    const limits = { bytes: 500 };
    expect(urgent.stats().waits).toEqual({ rateLimit: { waitMs: 500, rounds: 1, limits } });
    expect(gate.snapshot()).toMatchObject({ waiting: 1, nextInMs: 1_000 });
    clock.advance(1_000);
    expect(waiter.order).toEqual([urgent.value, head.value]);
    expect(clock.pendingTimers).toBe(0);
  });

  it.each([
    ['is as urgent as it', true, 0],
    ['is less urgent', true, -1],
    ['has a priority that the gate does not go by', false, 5],
  ])('but not one that %s, though it fits', (_what, isPrioritized, priority) => {
    const { clock, waiter, head, enter } = waitingHead(isPrioritized);
    const [passed, newcomer] = enter(1, priority);
    expect(passed).toBe(false);
    clock.advance(1_000);
    expect(waiter.order).toEqual([head.value, newcomer.value]);
  });

  it('is not timed out, counted or reported as waiting, if it passes', () => {
    const told: unknown[] = [];
    const instrumentation = { queued: ({ value }: Ticket) => told.push(value) };
    const { clock, ticket, byteRateGate } = ruledGates({
      isPrioritized: true,
      waitTimeoutMs: 100,
      maxQueue: 2,
      instrumentation,
    });
    const { gate } = byteRateGate(10);
    const waiter = new Waiter();
    gate.enter(ticket({ bytes: 5 }), waiter);
    gate.enter(ticket({ bytes: 9 }), waiter);
    gate.enter(ticket({ bytes: 5, priority: 1 }), waiter);
    expect(waiter.order).toEqual([2]);
    expect(waiter.tickets[0]?.stats().waits).toEqual({});
    expect(told).toEqual([1]);
    expect(gate.waiting).toBe(1);
    clock.advance(100);
    expect(waiter.order).toEqual([2, 1]);
    expect(clock.pendingTimers).toBe(0);
  });
});
