import { describe, expect, it } from 'vitest';
import { slotGate } from '../../support/slot-gate.ts';
import { LateWaiter, Waiter } from '../../support/waiter.ts';

describe('a request that gets its ticket when its turn comes', () => {
  it('gets it at once, if it may pass', () => {
    const { gate, slots, ticket } = slotGate(1);
    const waiter = new LateWaiter(() => ticket());
    expect(gate.enterLater('a', waiter)?.value).toBe(0);
    expect(slots.inFlight).toBe(1);
    expect(waiter.tickets).toHaveLength(0);
  });

  it('has it made once, in its turn, with the time of its arrival', () => {
    const { gate, ticket, clock } = slotGate(1);
    const made: unknown[] = [];
    const waiter = new LateWaiter((item, arrivedAt) => {
      made.push([item, arrivedAt]);
      return ticket();
    });
    const holder = ticket();
    gate.enter(holder, waiter);
    clock.advance(5);
    expect(gate.enterLater('a', waiter)).toBeUndefined();
    clock.advance(5);
    expect(gate.enterLater('b', waiter)).toBeUndefined();
    // The head has been asked for its ticket only if it was asked whether it may pass.
    for (let n = 0; n < 5; n += 1) gate.drain();
    clock.advance(90);
    holder.settle('ok');
    waiter.tickets[0]?.settle('ok');
    expect(made).toEqual([
      ['a', 5],
      ['b', 10],
    ]);
    expect(waiter.order).toEqual([1, 2]);
    expect(waiter.tickets[1]?.stats().waits.concurrency?.waitMs).toBe(90);
  });

  it('is first come first served among those that have theirs', () => {
    const { gate, ticket } = slotGate(1);
    const order: unknown[] = [];
    const early = new Waiter(() => order.push('early'));
    const late = new LateWaiter(
      () => ticket(),
      () => order.push('late'),
    );
    const holder = ticket();
    gate.enter(holder, late);
    gate.enter(ticket(), early);
    gate.enterLater('x', late);
    gate.policy.limit = 5;
    gate.drain();
    expect(order).toEqual(['early', 'late']);
  });

  it('is passed over when its receiver fails to make it, and has gone with the rest', () => {
    const { gate, slots, ticket } = slotGate(1);
    const failing = new LateWaiter(() => {
      failing.gone = true;
      gate.left(failing);
      return undefined;
    });
    const other = new LateWaiter(() => ticket());
    const holder = ticket();
    gate.enter(holder, other);
    gate.enterLater('a', failing);
    gate.enterLater('b', other);
    gate.enterLater('c', failing);
    gate.enterLater('d', failing);
    holder.settle('ok');
    expect(failing.tickets).toHaveLength(0);
    expect(other.tickets).toHaveLength(1);
    expect(slots.inFlight).toBe(1);
    expect(gate.snapshot().waiting).toBe(0);
  });

  it('may let others leave while its ticket is made', () => {
    const { gate, ticket } = slotGate(1);
    const leaving = new Waiter();
    const making = new LateWaiter(() => {
      leaving.gone = true;
      gate.left(leaving);
      return ticket();
    });
    const holder = ticket();
    gate.enter(holder, leaving);
    gate.enterLater('x', making);
    for (let n = 0; n < 40; n += 1) gate.enter(ticket(), leaving);
    const last = new Waiter();
    gate.enter(ticket(), last);
    holder.settle('ok');
    expect(making.tickets).toHaveLength(1);
    making.tickets[0]?.settle('ok');
    expect(last.tickets).toHaveLength(1);
    expect(gate.snapshot().waiting).toBe(0);
  });

  it('does not overtake when its estimate brings another request in first', () => {
    const { gate, slots, ticket } = slotGate(1);
    const intruder = new Waiter();
    let inside = ticket();
    const waiter = new LateWaiter(() => {
      inside = ticket();
      expect(gate.enter(inside, intruder)).toBe(true);
      return ticket();
    });
    expect(gate.enterLater('a', waiter)).toBeUndefined();
    expect(slots.inFlight).toBe(1);
    inside.settle('ok');
    expect(waiter.tickets).toHaveLength(1);
  });
});
