import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, it } from 'vitest';
import { FairQueue } from '../../../src/gate/queue/fair-queue.ts';
import { FifoOrder } from '../../../src/gate/queue/fifo-order.ts';
import { Heap } from '../../../src/gate/queue/heap.ts';
import { PriorityQueue } from '../../../src/gate/queue/priority-queue.ts';
import { isDead, keyOf, priorityOf, push, serve, serveAll, type Waiter } from './waiters.ts';

const WAITERS = 100_000;
const KEYS = 10_000;

async function collectGarbage(): Promise<void> {
  setFlagsFromString('--expose-gc');
  await new Promise((resolve) => setTimeout(resolve));
  runInNewContext('gc')();
}

const alive = (refs: readonly WeakRef<object>[]) => refs.filter((ref) => ref.deref()).length;

describe('10,000 keys with 100,000 waiters', () => {
  it('cost two looks at a cost a request, and one lane a key', () => {
    let looks = 0;
    let lanes = 0;
    const costOf = ({ cost }: Waiter) => {
      looks += 1;
      return cost;
    };
    const newLane = () => {
      lanes += 1;
      return new FifoOrder<Waiter, Waiter>();
    };
    const queue = new FairQueue<Waiter, Waiter>(isDead, { keyOf, costOf, newLane });
    for (let at = 0; at < WAITERS; at += 1) {
      push(queue, { key: `k${at % KEYS}`, cost: at % 97 });
    }
    expect(queue.keys).toBe(KEYS);
    for (let at = 0; at < WAITERS; at += 1) {
      serve(queue);
      push(queue, { key: `k${at % KEYS}`, cost: at % 89 });
    }
    expect(serveAll(queue)).toHaveLength(WAITERS);
    expect(looks).toBeLessThanOrEqual(2 * 2 * WAITERS);
    expect(lanes).toBeLessThanOrEqual(KEYS + 2);
  });

  it('leave nothing behind', async () => {
    const lanes: WeakRef<object>[] = [];
    const items: WeakRef<object>[] = [];
    const newLane = () => {
      const lane = new FifoOrder<Waiter, Waiter>();
      lanes.push(new WeakRef(lane));
      return lane;
    };
    const queue = new FairQueue<Waiter, Waiter>(isDead, { keyOf, costOf: () => 1, newLane });
    for (let at = 0; at < WAITERS; at += 1) {
      const item = push(queue, { key: `k${at % KEYS}` });
      if (at % 100 === 0) items.push(new WeakRef(item));
    }
    while (serve(queue));
    await collectGarbage();
    expect(queue.keys).toBe(0);
    expect(alive(items)).toBe(0);
    // The last that was emptied is kept for reuse.
    expect(alive(lanes)).toBeLessThanOrEqual(2);
  });

  it('come and go without a new lane each', () => {
    let lanes = 0;
    const newLane = () => {
      lanes += 1;
      return new FifoOrder<Waiter, Waiter>();
    };
    const queue = new FairQueue<Waiter, Waiter>(isDead, { keyOf, costOf: () => 1, newLane });
    for (let at = 0; at < KEYS; at += 1) {
      push(queue, { key: `k${at}` });
      push(queue, { key: `l${at}` });
      serveAll(queue);
    }
    expect(lanes).toBeLessThan(5 + KEYS);
  });
});

describe('100,000 waiters of many priorities', () => {
  it('leave nothing behind', async () => {
    const items: WeakRef<object>[] = [];
    const queue = new PriorityQueue<Waiter, Waiter>(isDead, { priorityOf, agingMs: 10 });
    for (let at = 0; at < WAITERS; at += 1) {
      const item = push(queue, { priority: at % 1000 }, at);
      if (at % 100 === 0) items.push(new WeakRef(item));
    }
    while (serve(queue));
    await collectGarbage();
    expect(queue.priorities).toBe(0);
    expect(alive(items)).toBe(0);
  });
});

describe('a heap', () => {
  class Entry {
    readonly places = [0];
    rank = 0;
  }

  it('compares O(log n) times a change', () => {
    let comparisons = 0;
    const heap = new Heap<Entry>(0, (one, other) => {
      comparisons += 1;
      return one.rank < other.rank;
    });
    const entries = Array.from({ length: 1024 }, (_, at) => {
      const entry = new Entry();
      entry.rank = (at * 389) % 1024;
      heap.add(entry);
      return entry;
    });
    comparisons = 0;
    for (const entry of entries) {
      entry.rank = (entry.rank * 7 + 3) % 1024;
      heap.move(entry);
    }
    expect(comparisons).toBeLessThan(1024 * (2 * 10 + 1));
    for (const entry of entries.filter(({ rank }) => rank % 2 === 0)) heap.delete(entry);
    const ranks: number[] = [];
    for (let { top } = heap; top !== undefined; { top } = heap) {
      ranks.push(top.rank);
      heap.delete(top);
    }
    expect(ranks).toEqual(Array.from({ length: 512 }, (_, at) => 2 * at + 1));
  });
});
