import { describe, expect, it } from 'vitest';
import type { Instrumentation } from '../../../src/model/instrumentation.ts';
import type { Ticket } from '../../../src/model/ticket.ts';
import { slotGate } from '../../support/slot-gate.ts';
import { Waiter } from '../../support/waiter.ts';

/** A gate with one slot, which is taken, and a waiter of its own for each that queues. */
function queueOf(count: number, instrumentation?: Instrumentation) {
  const around = slotGate(1, instrumentation);
  const { gate, ticket } = around;
  const order: unknown[] = [];
  const holder = ticket();
  gate.enter(holder, new Waiter());
  const queue = () => {
    const waiter = new Waiter((admitted) => {
      order.push(admitted.value);
      admitted.settle('ok');
    });
    const own = ticket();
    gate.enter(own, waiter);
    return { waiter, own };
  };
  const waiters = Array.from({ length: count }, queue);
  /** As passages do: gone, then counted, then settled. */
  const leave = (at: number) => {
    const { waiter, own } = waiters[at] as { waiter: Waiter; own: Ticket };
    waiter.gone = true;
    gate.left(waiter);
    own.settle('cancelled');
  };
  return { ...around, holder, waiters, order, leave, queue };
}

describe('a waiter that leaves', () => {
  it.each([
    ['the head', 0, [2, 3, 4]],
    ['the middle', 1, [1, 3, 4]],
    ['the tail', 3, [1, 2, 3]],
  ])('%s affects no other waiter', (_where, at, expected) => {
    const { gate, holder, order, leave, slots } = queueOf(4);
    leave(at);
    expect(gate.snapshot().waiting).toBe(3);
    holder.settle('ok');
    expect(order).toEqual(expected);
    expect(slots.inFlight).toBe(0);
    expect(gate.snapshot().waiting).toBe(0);
  });

  it('gets no further calls', () => {
    const { holder, leave, waiters } = queueOf(2);
    leave(1);
    holder.settle('ok');
    expect(waiters[1]?.waiter.order).toEqual([]);
  });

  it('admits those behind it, if they fit', () => {
    const { slots, leave, order } = queueOf(3);
    slots.limit = 2;
    leave(0);
    expect(order).toEqual([2, 3]);
  });

  it('from within the turn of another is not admitted after it', () => {
    const { gate, holder, waiters, slots, ticket } = queueOf(1);
    const first = new Waiter((admitted) => {
      second.gone = true;
      gate.left(second);
      admitted.settle('ok');
    });
    const second = new Waiter();
    gate.enter(ticket(), first);
    gate.enter(ticket(), second);
    holder.settle('ok');
    expect(waiters[0]?.waiter.tickets).toHaveLength(1);
    expect(first.tickets).toHaveLength(1);
    expect(second.tickets).toHaveLength(0);
    expect(slots.inFlight).toBe(0);
    expect(gate.snapshot().waiting).toBe(0);
  });

  it('in its own turn takes its other requests with it, and none of others', () => {
    const { gate, holder, ticket } = queueOf(0);
    const leaving = new Waiter((admitted) => {
      expect(gate.snapshot().waiting).toBe(41);
      leaving.gone = true;
      gate.left(leaving);
      admitted.settle('ok');
    });
    const last = new Waiter();
    for (let n = 0; n < 41; n += 1) gate.enter(ticket(), leaving);
    gate.enter(ticket(), last);
    holder.settle('ok');
    expect(leaving.tickets).toHaveLength(1);
    expect(last.tickets).toHaveLength(1);
    expect(gate.snapshot()).toMatchObject({ waiting: 0, inFlight: 1 });
  });

  it('leaves the rounds of the head as they are, unless it was the head', () => {
    const { gate, holder, waiters, leave } = queueOf(4);
    for (let n = 0; n < 5; n += 1) gate.drain();
    leave(2);
    expect(waiters[0]?.own.attempts).toBe(0);
    // Asked six times and told to wait, and once more to pass.
    const rounds = (at: number) => waiters[at]?.own.stats().waits.concurrency?.rounds;
    holder.settle('ok');
    expect(rounds(0)).toBe(7);
    expect(rounds(1)).toBe(1);
  });

  it('hands none of its rounds to the next when it was the head', () => {
    const { gate, holder, waiters, leave } = queueOf(2);
    for (let n = 0; n < 5; n += 1) gate.drain();
    leave(0);
    holder.settle('ok');
    expect(waiters[1]?.own.stats().waits.concurrency?.rounds).toBe(2);
  });
});

describe('a ticket that is settled while it waits', () => {
  it('passes without a lease, so that its receiver need not wait for it', () => {
    const { holder, waiters, order, slots } = queueOf(3);
    waiters[1]?.own.settle('cancelled');
    holder.settle('ok');
    expect(order).toEqual([1, 2, 3]);
    expect(waiters[1]?.own.stats().waits).toEqual({});
    expect(slots.inFlight).toBe(0);
  });

  it('waits for no slot any more when it is the head', () => {
    const { gate, waiters, order } = queueOf(2);
    waiters[0]?.own.settle('cancelled');
    gate.drain();
    expect(order).toEqual([1]);
    expect(gate.snapshot().waiting).toBe(1);
  });

  it.each([1, 40])('is handed to its receiver though %i others leave', (others) => {
    const { holder, waiters, order, leave, gate } = queueOf(others + 2);
    waiters[0]?.own.settle('cancelled');
    for (let at = 1; at <= others; at += 1) leave(at);
    holder.settle('ok');
    expect(order).toEqual([1, others + 2]);
    expect(gate.snapshot().waiting).toBe(0);
  });
});

describe('a receiver that leaves while the instrumentation is called', () => {
  it('for its admission is neither called nor counted twice', () => {
    let onAdmitted = (_ticket: Ticket) => {};
    const instrumentation = { admitted: (ticket: Ticket) => onAdmitted(ticket) };
    const { gate, holder, leave, waiters, order, ticket } = queueOf(3, instrumentation);
    onAdmitted = (ticket) => {
      if (ticket.value === 1) leave(0);
    };
    holder.settle('ok');
    expect(waiters[0]?.waiter.order).toEqual([]);
    expect(order).toEqual([2, 3]);
    expect(gate.snapshot()).toMatchObject({ waiting: 0, inFlight: 0 });
    // Nobody overtakes afterwards either.
    gate.enter(ticket(), new Waiter());
    gate.enter(ticket(), new Waiter());
    expect(gate.enter(ticket(), new Waiter())).toBe(false);
    expect(gate.snapshot().waiting).toBe(2);
  });

  it('for its arrival in the queue is not called when its turn comes', () => {
    let waiter: Waiter | undefined;
    const instrumentation = {
      queued: (ticket: Ticket) => {
        if (waiter !== undefined) waiter.gone = true;
        ticket.settle('cancelled');
      },
    };
    const { gate, ticket } = slotGate(1, instrumentation);
    const holder = ticket();
    gate.enter(holder, new Waiter());
    waiter = new Waiter();
    gate.enter(ticket(), waiter);
    holder.settle('ok');
    expect(waiter.order).toEqual([]);
    expect(gate.snapshot()).toMatchObject({ waiting: 0, inFlight: 0 });
  });

  it('which has never waited, does not stop the others', () => {
    const { gate, holder, ticket, order, queue } = queueOf(0);
    gate.left(new Waiter());
    expect(gate.snapshot().waiting).toBe(0);
    holder.settle('ok');
    expect(gate.enter(ticket(), new Waiter())).toBe(true);
    queue();
    expect(gate.snapshot().waiting).toBe(1);
    expect(order).toEqual([]);
  });
});
