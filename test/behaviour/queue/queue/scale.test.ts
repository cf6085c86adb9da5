import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, it } from 'vitest';
import { PriorityQueue } from '../../../../src/queue/priority-queue.ts';
import { isCancelled, priorityOf, push, serve, type Waiter } from '../../../queue/queue/waiters.ts';
import { aliveBytes, leastBytes } from '../../../support/memory.ts';

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
    expect(alive(items)).toBe(0);
  });
});

it('100,000 priorities that were used once keep no memory', async () => {
  const left = await leastBytes(1_000_000, () => {
    const before = aliveBytes();
    const queue = new PriorityQueue<Waiter, Waiter>(isCancelled, { priorityOf, agingMs: 10 });
    for (let priority = 0; priority < WAITERS; priority += 1) {
      push(queue, { priority });
      // Every second one is alone in the queue.
      if (priority % 2 === 1) while (serve(queue));
    }
    const alive = aliveBytes() - before;
    expect(serve(queue)).toBeUndefined();
    return alive;
  });
  expect(left).toBeLessThan(1_000_000);
});
