import { describe, expect, it } from 'vitest';
import { QueueFullError } from '../../../src/model/errors.ts';
import type { Ticket } from '../../../src/model/ticket.ts';
import { ruledGates } from '../../support/ruled-gate.ts';
import { Waiter } from '../../support/waiter.ts';

const isFull = (ticket: Ticket) => ticket.refusal instanceof QueueFullError;

/** A gate of one slot, taken, with a bound. */
function takenGate(options: Parameters<typeof ruledGates>[0]) {
  const around = ruledGates(options);
  const { ticket, slotGate } = around;
  const gate = slotGate(1);
  const holder = ticket();
  gate.enter(holder, new Waiter());
  const waiter = new Waiter();
  const arrive = (priority = 0): Ticket => {
    const arriving = ticket({ priority });
    if (gate.enter(arriving, waiter)) expect(arriving.refusal).toBeDefined();
    return arriving;
  };
  return { ...around, gate, holder, waiter, arrive };
}

describe('a bound', () => {
  it('refuses the newcomer that exceeds it', () => {
    const { arrive, gate, queues, holder, waiter } = takenGate({ maxQueue: 2 });
    const [first, second] = [arrive(), arrive()];
    const refused = [arrive(), arrive()];
    expect(refused.map(isFull)).toEqual([true, true]);
    expect(refused[0]?.refusal).toMatchObject({ code: 'QUEUE_FULL', maxQueue: 2 });
    expect([first, second].map(isFull)).toEqual([false, false]);
    expect([gate.waiting, queues.capacity.dropped]).toEqual([2, 2]);
    holder.settle('ok');
    expect(waiter.tickets).toEqual([first]);
    expect(isFull(arrive())).toBe(false);
    expect(isFull(arrive())).toBe(true);
  });

  it('of 0 lets requests pass, but not wait', () => {
    for (const overflow of ['error', 'drop-newest', 'drop-oldest'] as const) {
      const { arrive, gate, ticket, slotGate } = takenGate({ maxQueue: 0, overflow });
      expect(isFull(arrive())).toBe(true);
      expect(gate.waiting).toBe(0);
      const passing = ticket();
      expect(slotGate(1).enter(passing, new Waiter())).toBe(true);
      expect(passing.refusal).toBeUndefined();
    }
  });

  it('never refuses a retry, and counts it', () => {
    const { gate, ticket, arrive } = takenGate({ maxQueue: 2 });
    arrive();
    arrive();
    const retried = ticket();
    retried.sent(0);
    const retrying = Object.assign(new Waiter(), { isRetry: true });
    expect(gate.enter(retried, retrying)).toBe(false);
    expect(isFull(retried)).toBe(false);
    expect(gate.waiting).toBe(3);
    expect(isFull(arrive())).toBe(true);
  });

  it('does not count requests that have left', () => {
    const { arrive, gate, waiter, ticket } = takenGate({ maxQueue: 1 });
    arrive();
    waiter.gone = true;
    gate.left(waiter);
    const next = ticket();
    expect(gate.enter(next, new Waiter())).toBe(false);
    expect(isFull(next)).toBe(false);
  });
});

describe('the request that is dropped when too many wait', () => {
  it.each([
    ['error', [true, false, false]],
    ['drop-newest', [true, false, false]],
    ['drop-oldest', [false, true, false]],
  ] as const)('with `%s`', (overflow, [newcomer, oldest, other]) => {
    const { arrive, waiter, queues, gate } = takenGate({ maxQueue: 2, overflow });
    const [first, second, third] = [arrive(), arrive(), arrive()] as const;
    expect([third, first, second].map(isFull)).toEqual([newcomer, oldest, other]);
    expect(waiter.tickets).toEqual(oldest ? [first] : []);
    expect(queues.capacity.dropped).toBe(1);
    expect(gate.waiting).toBe(2);
  });

  it('with `drop-oldest` and priorities: the oldest of the lowest, or the newcomer below it', () => {
    const { arrive } = takenGate({ maxQueue: 3, overflow: 'drop-oldest', isPrioritized: true });
    const [high, low, low2] = [arrive(2), arrive(1), arrive(1)];
    const newcomer = arrive(1);
    const all = [high, low, low2, newcomer] as Ticket[];
    expect(all.map(isFull)).toEqual([false, true, false, false]);
    expect(isFull(arrive())).toBe(true);
  });

  it('with `drop-oldest`, as many as it takes after the bound was lowered', () => {
    const { arrive, queues, gate } = takenGate({ maxQueue: 5, overflow: 'drop-oldest' });
    const waiting = Array.from({ length: 5 }, () => arrive());
    queues.capacity.configure({ maxQueue: 2, overflow: 'drop-oldest' });
    const last = arrive();
    expect(waiting.map(isFull)).toEqual([true, true, true, true, false]);
    expect(isFull(last)).toBe(false);
    expect(gate.waiting).toBe(2);
  });

  it('is not a retry: then it is the newcomer', () => {
    const { arrive, ticket, gate, waiter } = takenGate({ maxQueue: 1, overflow: 'drop-oldest' });
    const retried = ticket();
    retried.sent(0);
    gate.enter(retried, waiter);
    expect(isFull(arrive())).toBe(true);
    expect(retried.refusal).toBeUndefined();
  });

  it('lets the next pass, and the newcomer, if they may where the oldest could not', () => {
    const { clock, ticket, byteRateGate } = ruledGates({ maxQueue: 2, overflow: 'drop-oldest' });
    const { gate } = byteRateGate(10);
    const waiter = new Waiter();
    gate.enter(ticket({ bytes: 6 }), waiter);
    const [large, small] = [ticket({ bytes: 9 }), ticket({ bytes: 1 })];
    gate.enter(large, waiter);
    gate.enter(small, waiter);
    const newcomer = ticket({ bytes: 2 });
    expect(gate.enter(newcomer, waiter)).toBe(true);
    expect([large, small, newcomer].map(isFull)).toEqual([true, false, false]);
    expect(waiter.tickets).toEqual([large, small]);
    expect(gate.snapshot()).toMatchObject({ waiting: 0, nextInMs: undefined });
    expect(clock.pendingTimers).toBe(0);
  });
});

describe('the callback of a dropped request', () => {
  it('may take the newcomer with it', () => {
    const { gate, ticket } = takenGate({ maxQueue: 1, overflow: 'drop-oldest' });
    const receiver = new Waiter(() => {
      receiver.gone = true;
      gate.left(receiver);
    });
    gate.enter(ticket(), receiver);
    const newcomer = ticket();
    expect(gate.enter(newcomer, receiver)).toBe(true);
    expect(receiver.tickets).toHaveLength(1);
    expect(gate.waiting).toBe(0);
    expect(gate.waiting).toBe(0);
  });

  it('may take the newcomer with it, and those behind it pass if they may', () => {
    const { ticket, byteRateGate } = ruledGates({ maxQueue: 2, overflow: 'drop-oldest' });
    const { gate } = byteRateGate(10);
    gate.enter(ticket({ bytes: 6 }), new Waiter());
    const sender = new Waiter();
    const dropped = new Waiter(() => {
      sender.gone = true;
      gate.left(sender);
    });
    const behind = new Waiter();
    gate.enter(ticket({ bytes: 9 }), dropped);
    gate.enter(ticket({ bytes: 1 }), behind);
    const newcomer = ticket({ bytes: 2 });
    expect(gate.enter(newcomer, sender)).toBe(true);
    expect(newcomer.refusal).toBeUndefined();
    expect(behind.order).toEqual([2]);
    expect(gate.snapshot()).toMatchObject({ waiting: 0, nextInMs: undefined });
  });

  it('may come back, and takes its place before the newcomer does', () => {
    const { gate, ticket, queues, holder } = takenGate({
      maxQueue: 2,
      overflow: 'drop-oldest',
    });
    const order: unknown[] = [];
    let comeback: Ticket | undefined;
    const receiver = new Waiter((admitted) => {
      if (admitted.refusal === undefined) {
        order.push(admitted.value);
        admitted.settle('ok');
      } else if (comeback === undefined) {
        comeback = ticket();
        expect(gate.enter(comeback, receiver)).toBe(false);
      }
    });
    const [, second, newcomer] = Array.from({ length: 3 }, () => {
      const arriving = ticket();
      gate.enter(arriving, receiver);
      return arriving;
    });
    // The first was dropped for the newcomer, then the second, as the first came back.
    expect([gate.waiting, queues.capacity.dropped]).toEqual([2, 2]);
    expect(second && isFull(second)).toBe(true);
    holder.settle('ok');
    expect(order).toEqual([comeback?.value, newcomer?.value]);
  });

  it('may throw, and no request is lost', async () => {
    const thrown: unknown[] = [];
    const listeners = process.listeners('uncaughtException');
    process.removeAllListeners('uncaughtException');
    process.once('uncaughtException', (error) => thrown.push(error));
    try {
      const { gate, ticket } = takenGate({ maxQueue: 1, overflow: 'drop-oldest' });
      const error = new Error('no');
      const receiver = new Waiter(() => {
        throw error;
      });
      gate.enter(ticket(), receiver);
      expect(gate.enter(ticket(), receiver)).toBe(false);
      expect(gate.waiting).toBe(1);
      await new Promise((resolve) => setImmediate(resolve));
      expect(thrown).toEqual([error]);
    } finally {
      for (const listener of listeners) process.on('uncaughtException', listener);
    }
  });
});
