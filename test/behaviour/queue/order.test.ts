import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Ticket } from '../../../src/model/ticket.ts';
import { holds } from '../../support/holds.ts';
import { runs } from '../../support/runs.ts';
import { slotGate } from '../../support/slot-gate.ts';
import { stepCount } from '../../support/steps.ts';
import { Waiter } from '../../support/waiter.ts';

describe('a gate', () => {
  it('admits a request at once if it need not wait, without calling the receiver', () => {
    const { gate, slots, ticket } = slotGate(2);
    const waiter = new Waiter();
    expect(gate.enter(ticket(), waiter)).toBe(true);
    expect(gate.enter(ticket(), waiter)).toBe(true);
    expect(gate.enter(ticket(), waiter)).toBe(false);
    expect(waiter.order).toEqual([]);
    expect(slots.inFlight).toBe(2);
    expect(gate.snapshot()).toMatchObject({ waiting: 1, limit: 2, inFlight: 2 });
  });

  it('admits in the order of arrival, one for each release', () => {
    const { gate, ticket } = slotGate(1);
    const waiter = new Waiter();
    const first = ticket();
    gate.enter(first, waiter);
    for (let n = 0; n < 3; n += 1) gate.enter(ticket(), waiter);
    first.settle('ok');
    expect(waiter.order).toEqual([1]);
    waiter.tickets[0]?.settle('ok');
    waiter.tickets[1]?.settle('ok');
    expect(waiter.order).toEqual([1, 2, 3]);
  });

  it('reserves leases before it calls any receiver', () => {
    const { gate, slots, ticket } = slotGate(1);
    const seen: number[] = [];
    const waiter = new Waiter(() => seen.push(slots.inFlight));
    const first = ticket();
    gate.enter(first, waiter);
    gate.enter(ticket(), waiter);
    first.settle('ok');
    expect(seen).toEqual([1]);
  });

  it('lets no newcomer overtake a waiter, though there is room and no receiver was called yet', () => {
    const { gate, slots, ticket } = slotGate(1);
    const waiter = new Waiter();
    gate.enter(ticket(), waiter);
    gate.enter(ticket(), waiter);
    // The policy has changed, the gate does not know yet.
    slots.limit = 10;
    expect(gate.enter(ticket(), waiter)).toBe(false);
    gate.drain();
    expect(waiter.order).toEqual([1, 2]);
  });

  it('lets no newcomer that comes from within overtake a waiter', () => {
    const { gate, slots, ticket } = slotGate(1);
    const newcomer = ticket();
    const waiter = new Waiter((admitted) => {
      if (admitted.value === 2) expect(gate.enter(newcomer, waiter)).toBe(false);
    });
    gate.enter(ticket(), waiter);
    for (let n = 0; n < 3; n += 1) gate.enter(ticket(), waiter);
    slots.limit = 10;
    gate.drain();
    expect(waiter.order).toEqual([2, 3, 4, 0]);
  });

  it('keeps the order of arrival, over all receivers, in every interleaving', () => {
    const step = fc.record({
      what: fc.constantFrom('enter', 'enter', 'settle', 'limit', 'reenter'),
      number: fc.nat(5),
    });
    const count = stepCount('order');
    fc.assert(
      fc.property(fc.array(step, { maxLength: 120 }), (steps) => {
        count.add(steps);
        const { gate, slots, ticket } = slotGate(2);
        const passed: unknown[] = [];
        const held: Ticket[] = [];
        const note = (admitted: Ticket) => {
          passed.push(admitted.value);
          held.push(admitted);
          holds(slots.inFlight === held.length, slots.inFlight, held.length);
          holds(held.length <= slots.limit, held.length, slots.limit);
        };
        let comeBack = 0;
        let arrivals = 0;
        const enter = (at: number) => {
          arrivals += 1;
          const newcomer = ticket();
          if (gate.enter(newcomer, receivers[at % 3] as Waiter)) note(newcomer);
        };
        const receivers = Array.from(
          { length: 3 },
          () =>
            new Waiter((admitted) => {
              note(admitted);
              if (comeBack === 0) return;
              comeBack -= 1;
              enter(comeBack);
            }),
        );
        for (const { what, number } of steps) {
          if (what === 'enter') enter(number);
          if (what === 'settle') held.splice(number % (held.length + 1), 1)[0]?.settle('ok');
          if (what === 'reenter') comeBack = number;
          if (what === 'limit' && held.length <= number + 1) {
            slots.limit = number + 1;
            gate.drain();
          }
        }
        while (held.length > 0) held.shift()?.settle('ok');
        expect(passed).toEqual(Array.from({ length: arrivals }, (_, index) => index));
        expect(slots.inFlight).toBe(0);
        expect(gate.snapshot().waiting).toBe(0);
      }),
      { numRuns: runs(500) },
    );
    count.expectEnough();
  });
});
