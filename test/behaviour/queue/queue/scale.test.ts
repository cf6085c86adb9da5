import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, it } from 'vitest';
import { Heap } from '../../../../src/queue/heap.ts';
import { PriorityQueue } from '../../../../src/queue/priority-queue.ts';
import { isCancelled, priorityOf, push, serve, type Waiter } from '../../../queue/queue/waiters.ts';

const WAITERS = 100_000;

async function collectGarbage(): Promise<void> {
  setFlagsFromString('--expose-gc');
  await new Promise((resolve) => setTimeout(resolve));
  runInNewContext('gc')();
}

const alive = (refs: readonly WeakRef<object>[]) => refs.filter((ref) => ref.deref()).length;

describe('100,000 waiters of many priorities', () => {
  it('leave nothing behind', async () => {
    const items: WeakRef<object>[] = [];
    const queue = new PriorityQueue<Waiter, Waiter>(isCancelled, { priorityOf, agingMs: 10 });
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
