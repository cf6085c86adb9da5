import { describe, expect, it } from 'vitest';
import { QueueFullError } from '../../src/model/errors.ts';
import type { Ticket } from '../../src/model/ticket.ts';
import { ruledGates } from '../support/ruled-gate.ts';
import { Waiter } from '../support/waiter.ts';

const isFull = (ticket: Ticket) => ticket.refusal instanceof QueueFullError;

/** Two gates of one slot each, taken, that share a bound. */
function takenGates(options: Parameters<typeof ruledGates>[0]) {
  const around = ruledGates(options);
  const { ticket, slotGate } = around;
  const gates = [slotGate(1), slotGate(1)] as const;
  const holders = gates.map((gate) => {
    const holder = ticket();
    gate.enter(holder, new Waiter());
    return holder;
  });
  const waiter = new Waiter();
  const arrive = (at: 0 | 1, priority = 0): Ticket => {
    const arriving = ticket({ priority });
    if (gates[at].enter(arriving, waiter)) expect(arriving.refusal).toBeDefined();
    return arriving;
  };
  return { ...around, gates, holders, waiter, arrive };
}

describe('a bound for several gates together', () => {
  it('turns the newcomer away that is one too many, wherever the others wait', () => {
    const { arrive, gates, queues, holders, waiter } = takenGates({ maxQueue: 2 });
    const [first, second] = [arrive(0), arrive(1)];
    const refused = [arrive(0), arrive(1)];
    expect(refused.map(isFull)).toEqual([true, true]);
    expect(refused[0]?.refusal).toMatchObject({ code: 'QUEUE_FULL', maxQueue: 2 });
    expect([first, second].map(isFull)).toEqual([false, false]);
    expect(gates.map((gate) => gate.waiting)).toEqual([1, 1]);
    expect(queues.room).toMatchObject({ waiting: 2, dropped: 2 });
    holders[0]?.settle('ok');
    expect(waiter.tickets).toEqual([first]);
    expect(isFull(arrive(1))).toBe(false);
    expect(isFull(arrive(1))).toBe(true);
  });

  it('of 0 lets nobody wait, but pass', () => {
    for (const overflow of ['error', 'drop-newest', 'drop-oldest'] as const) {
      const { arrive, queues, ticket, slotGate } = takenGates({ maxQueue: 0, overflow });
      expect(isFull(arrive(0))).toBe(true);
      expect(queues.room.waiting).toBe(0);
      const passing = ticket();
      expect(slotGate(1).enter(passing, new Waiter())).toBe(true);
      expect(passing.refusal).toBeUndefined();
    }
  });

  it('never turns away who was sent before, or has waited already', () => {
    const { gates, ticket, waiter, arrive, queues } = takenGates({ maxQueue: 1 });
    arrive(0);
    const [retried, waited] = [ticket(), ticket()];
    retried.sent(0);
    waited.waited('concurrency', 5, 1);
    expect(gates[1].enter(retried, waiter)).toBe(false);
    expect(gates[1].enter(waited, waiter)).toBe(false);
    expect([retried, waited].map(isFull)).toEqual([false, false]);
    expect(queues.room.waiting).toBe(3);
  });

  it('counts nobody who has gone', () => {
    const { arrive, gates, waiter, ticket } = takenGates({ maxQueue: 1 });
    arrive(0);
    waiter.gone = true;
    gates[0].left(1);
    const next = ticket();
    expect(gates[1].enter(next, new Waiter())).toBe(false);
    expect(isFull(next)).toBe(false);
  });
});

describe('who goes when too many wait', () => {
  it.each([
    ['error', [true, false, false]],
    ['drop-newest', [true, false, false]],
    ['drop-oldest', [false, true, false]],
  ] as const)('with `%s`', (overflow, [newcomer, oldest, other]) => {
    const { arrive, waiter, queues, gates } = takenGates({ maxQueue: 2, overflow });
    const [first, second, third] = [arrive(0), arrive(0), arrive(0)] as const;
    expect([third, first, second].map(isFull)).toEqual([newcomer, oldest, other]);
    expect(waiter.tickets).toEqual(oldest ? [first] : []);
    expect(queues.room.dropped).toBe(1);
    expect(gates[0].waiting).toBe(2);
  });

  it('with `drop-oldest` and priorities: the oldest of the lowest, or the newcomer below it', () => {
    const { arrive } = takenGates({ maxQueue: 3, overflow: 'drop-oldest', isPrioritized: true });
    const [high, low, low2] = [arrive(0, 2), arrive(0, 1), arrive(0, 1)];
    const newcomer = arrive(0, 1);
    const all = [high, low, low2, newcomer] as Ticket[];
    expect(all.map(isFull)).toEqual([false, true, false, false]);
    expect(isFull(arrive(0, 0))).toBe(true);
  });

  it('with `drop-oldest`, as many as it takes after the bound was lowered', () => {
    const { arrive, queues, gates } = takenGates({ maxQueue: 5, overflow: 'drop-oldest' });
    const waiting = Array.from({ length: 5 }, () => arrive(0));
    queues.room.bound = { maxQueue: 2, overflow: 'drop-oldest' };
    const last = arrive(0);
    expect(waiting.map(isFull)).toEqual([true, true, true, true, false]);
    expect(isFull(last)).toBe(false);
    expect(gates[0].waiting).toBe(2);
  });

  it('is not who was sent before: then it is the newcomer', () => {
    const { arrive, ticket, gates, waiter } = takenGates({ maxQueue: 1, overflow: 'drop-oldest' });
    const retried = ticket();
    retried.sent(0);
    gates[0].enter(retried, waiter);
    expect(isFull(arrive(0))).toBe(true);
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

describe('a victim that is told', () => {
  it('may take the newcomer with it', () => {
    const { gates, ticket, queues } = takenGates({ maxQueue: 1, overflow: 'drop-oldest' });
    const receiver = new Waiter(() => {
      receiver.gone = true;
      gates[0].left(0);
    });
    gates[0].enter(ticket(), receiver);
    const newcomer = ticket();
    expect(gates[0].enter(newcomer, receiver)).toBe(true);
    expect(receiver.tickets).toHaveLength(1);
    expect(gates[0].waiting).toBe(0);
    expect(queues.room.waiting).toBe(0);
  });

  it('may come back, and takes its place before the newcomer does', () => {
    const { gates, ticket, queues, holders } = takenGates({
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
        expect(gates[0].enter(comeback, receiver)).toBe(false);
      }
    });
    const [, second, newcomer] = Array.from({ length: 3 }, () => {
      const arriving = ticket();
      gates[0].enter(arriving, receiver);
      return arriving;
    });
    // The first was dropped for the newcomer, then the second, as the first came back.
    expect(queues.room).toMatchObject({ waiting: 2, dropped: 2 });
    expect(second && isFull(second)).toBe(true);
    holders[0]?.settle('ok');
    expect(order).toEqual([comeback?.value, newcomer?.value]);
  });

  it('may throw, and nobody is lost', async () => {
    const thrown: unknown[] = [];
    const listeners = process.listeners('uncaughtException');
    process.removeAllListeners('uncaughtException');
    process.once('uncaughtException', (error) => thrown.push(error));
    try {
      const { gates, ticket, queues } = takenGates({ maxQueue: 1, overflow: 'drop-oldest' });
      const error = new Error('no');
      const receiver = new Waiter(() => {
        throw error;
      });
      gates[0].enter(ticket(), receiver);
      expect(gates[0].enter(ticket(), receiver)).toBe(false);
      expect(queues.room.waiting).toBe(1);
      await new Promise((resolve) => setImmediate(resolve));
      expect(thrown).toEqual([error]);
    } finally {
      for (const listener of listeners) process.on('uncaughtException', listener);
    }
  });
});
