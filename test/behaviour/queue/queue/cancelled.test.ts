import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { PriorityQueue } from '../../../../src/queue/priority-queue.ts';
import {
  kill,
  peek,
  priorityOf,
  push,
  script,
  serve,
  serveAll,
  type Waiter,
  type Waiters,
} from '../../../queue/queue/waiters.ts';
import { holds } from '../../../support/holds.ts';

type Asks = { count: number };

function queueOf(asks: Asks = { count: 0 }): Waiters {
  const isCancelled = (item: Waiter) => {
    asks.count += 1;
    return item.cancelled;
  };
  return new PriorityQueue(isCancelled, { priorityOf, agingMs: 10 });
}

const sorts = [
  { key: 'a', priority: 0 },
  { key: 'b', priority: 1 },
  { key: 'a', priority: 2 },
];

describe('the cancelled of a queue by priority', () => {
  it('are neither served nor counted, and no other waiter is lost', () => {
    fc.assert(
      fc.property(script(true), (steps) => {
        const queue = queueOf();
        let living: Waiter[] = [];
        for (const step of steps) {
          if (step.do === 'push') living.push(push(queue, step.sort));
          if (step.do === 'serve') {
            const item = serve(queue);
            if (item === undefined) holds(living.length === 0, living.length);
            else holds(living.includes(item), living.length);
            living = living.filter((other) => other !== item);
          }
          if (step.do === 'kill') {
            const dying = living.filter((_, at) => (at + step.which) % 30 < step.count);
            kill(queue, ...dying);
            living = living.filter((item) => !item.cancelled);
          }
          holds(queue.length === living.length, queue.length, living.length);
        }
        expect(new Set(serveAll(queue))).toEqual(new Set(living));
      }),
    );
  });

  it('keep the order of those that wait when they are swept out', () => {
    const whole = queueOf();
    const swept = queueOf();
    for (let at = 0; at < 200; at += 1) {
      const sort = sorts[at % 3];
      const dying = push(swept, sort, at);
      if (at % 4 === 0) {
        push(whole, sort, at);
        continue;
      }
      kill(swept, dying);
    }
    const order = (queue: Waiters) => serveAll(queue).map(({ since }) => since);
    expect(order(swept)).toEqual(order(whole));
  });

  it('may be marked some time after their cancellation', () => {
    const queue = queueOf();
    const items = Array.from({ length: 100 }, (_, at) => push(queue, sorts[at % 3], at));
    const [early, late] = [items.slice(0, 60), items.slice(60, 99)];
    for (const item of late) item.cancelled = true;
    expect(peek(queue)?.cancelled).toBe(false);
    kill(queue, ...early);
    expect(peek(queue)).toBe(items[99]);
    expect(serveAll(queue)).toEqual([items[99]]);
    push(queue);
    queue.markCancelled(late.length);
    expect(queue.length).toBe(1);
  });

  it('do not remove the head while it is being processed', () => {
    const queue = queueOf();
    const items = Array.from({ length: 100 }, (_, at) => push(queue, { priority: 0 }, at));
    const head = peek(queue);
    kill(queue, ...items.slice(0, 90));
    expect(queue.item).toBe(head);
    queue.shift();
    expect(queue.length).toBe(10);
    expect(serveAll(queue)).toEqual(items.slice(90));
  });

  it('cost O(1) each, amortised', () => {
    const asks = { count: 0 };
    const queue = queueOf(asks);
    const items = Array.from({ length: 100_000 }, (_, at) => push(queue, sorts[at % 3], at));
    for (const item of items.toReversed()) {
      kill(queue, item);
      queue.seek();
    }
    expect(queue.length).toBe(0);
    // Each seek asks the head; each sweep asks at most twice as many as it takes out.
    expect(asks.count).toBeLessThan(4 * items.length);
  });

  it('are released when they outnumber the waiters', () => {
    const queue = queueOf();
    const living = push(queue);
    const items = Array.from({ length: 1000 }, (_, at) => push(queue, sorts[at % 3], at));
    kill(queue, ...items);
    queue.seek();
    // Were they still in the queue, they would be served.
    for (const item of items) item.cancelled = false;
    expect(serveAll(queue)).toEqual([living]);
  });
});
