import { ok } from 'node:assert/strict';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { PriorityQueue } from '../../src/queue/priority-queue.ts';
import { type Model, play } from './queue/scripts.ts';
import {
  isCancelled,
  peek,
  priorityOf,
  push,
  script,
  serve,
  serveAll,
  type Waiter,
} from './queue/waiters.ts';

const AGING_MS = 10;

function priorityQueue(agingMs = AGING_MS): PriorityQueue<Waiter, Waiter> {
  return new PriorityQueue<Waiter, Waiter>(isCancelled, { priorityOf, agingMs });
}

/** Looks through all of them, each time. */
class NaivePriorities implements Model {
  #items: Waiter[] = [];

  push(item: Waiter): void {
    this.#items.push(item);
  }

  next(): Waiter | undefined {
    const key = ({ since, priority }: Waiter) => since - priority * AGING_MS;
    return this.#least((one, other) => key(one) - key(other));
  }

  oldest(newcomer: Waiter): Waiter | undefined {
    const oldest = this.#least((one, other) => one.priority - other.priority);
    return oldest !== undefined && oldest.priority <= newcomer.priority ? oldest : undefined;
  }

  replace(item: Waiter, by: Waiter): void {
    this.#items = this.#items.map((waiting) => (waiting === item ? by : waiting));
  }

  remove(item: Waiter): void {
    this.#items = this.#items.filter((waiting) => waiting !== item);
  }

  living(): readonly Waiter[] {
    return this.#items;
  }

  /** Of equals the oldest; of those that came at the same time those that were moved. */
  #least(compare: (one: Waiter, other: Waiter) => number): Waiter | undefined {
    const isLater = (one: Waiter, other: Waiter) =>
      one.since - other.since || Number(other.isMoved) - Number(one.isMoved);
    return this.#items.toSorted((one, other) => compare(one, other) || isLater(one, other))[0];
  }
}

describe('the order of a priority queue', () => {
  it('is that of a sorted list', () => {
    fc.assert(
      fc.property(script(true), (steps) => play(priorityQueue(), new NaivePriorities(), steps)),
    );
  });

  it('is that of a sorted list, too, where waiters get other priorities', () => {
    const steps = script(true, true);
    fc.assert(fc.property(steps, (all) => play(priorityQueue(), new NaivePriorities(), all)));
  });

  it('is first in, first out for one priority', () => {
    const queue = priorityQueue();
    const pushed = Array.from({ length: 100 }, (_, at) => push(queue, { priority: 3 }, at));
    expect(serveAll(queue)).toEqual(pushed);
  });

  it('puts higher priorities first, negative ones last', () => {
    const queue = priorityQueue();
    for (const priority of [0, -1, 2, 1, -1, 2]) push(queue, { priority });
    expect(serveAll(queue).map(priorityOf)).toEqual([2, 2, 1, 0, -1, -1]);
  });

  it('lets nobody be overtaken by those that come (q - p) x agingMs after it, or later', () => {
    const arrivals = fc.array(
      fc.record({ priority: fc.integer({ min: -3, max: 3 }), afterMs: fc.nat({ max: 9 }) }),
      { minLength: 2, maxLength: 60 },
    );
    fc.assert(
      fc.property(arrivals, fc.integer({ min: 1, max: 30 }), (sorts, agingMs) => {
        const queue = priorityQueue(agingMs);
        let now = 0;
        for (const { priority, afterMs } of sorts) {
          now += afterMs;
          push(queue, { priority }, now);
        }
        const served = serveAll(queue);
        served.forEach((late, at) => {
          for (const early of served.slice(at + 1)) {
            if (early.id > late.id) continue;
            // Of each pair with `node:assert`: `expect` takes a hundred times as long.
            ok(late.priority > early.priority);
            const boundMs = (late.priority - early.priority) * agingMs;
            ok(late.since - early.since < boundMs);
          }
        });
      }),
    );
  });

  it('reaches that bound: one that comes just before it overtakes', () => {
    const queue = priorityQueue();
    const early = push(queue, { priority: 0 }, 0);
    const just = push(queue, { priority: 2 }, 2 * AGING_MS - 0.001);
    const late = push(queue, { priority: 2 }, 2 * AGING_MS);
    expect(serveAll(queue)).toEqual([just, early, late]);
  });

  it('starves nobody while urgent ones keep coming', () => {
    const queue = priorityQueue();
    const humble = push(queue, { priority: 0 }, 0);
    let now = 0;
    do {
      now += 1;
      push(queue, { priority: 5 }, now);
      push(queue, { priority: 5 }, now);
    } while (serve(queue) !== humble && now < 10_000);
    // The 2 x 49 that come less than 5 x 10 ms after it go before it, one each ms.
    expect(now).toBe(2 * (5 * AGING_MS - 1) + 1);
  });
});

describe('the head of a priority queue', () => {
  it('stays between two seeks, and is the more urgent one from then on', () => {
    const queue = priorityQueue();
    const [first, second] = [push(queue), push(queue)];
    expect(peek(queue)).toBe(first);
    const urgent = push(queue, { priority: 1 });
    expect(queue.item).toBe(first);
    expect(peek(queue)).toBe(urgent);
    expect(serveAll(queue)).toEqual([urgent, first, second]);
  });

  it('is shifted, and no other, when one more urgent has come since', () => {
    const queue = priorityQueue();
    const [first, second] = [push(queue), push(queue)];
    queue.seek();
    const urgent = push(queue, { priority: 1 });
    queue.shift();
    expect(first.id).toBeLessThan(second.id);
    expect(serveAll(queue)).toEqual([urgent, second]);
  });
});

it('a priority queue shows all places, and those of moved waiters once', () => {
  const queue = priorityQueue();
  const [first, second, third] = [push(queue), push(queue, { priority: 3 }), push(queue)];
  queue.move(third, { from: 0, to: 5, since: third.since, order: 1 });
  const seen: unknown[] = [];
  queue.each((item, owner, since) => {
    seen.push(item);
    expect(owner).toBe(item);
    expect(since).toBe(item.since);
  });
  expect(seen).toHaveLength(3);
  expect(new Set(seen)).toEqual(new Set([first, second, third]));
});

describe('the priorities of a priority queue', () => {
  it('must be integers, and nothing is pushed if not', () => {
    const queue = priorityQueue();
    for (const priority of [0.5, Number.NaN, Number.POSITIVE_INFINITY]) {
      expect(() => push(queue, { priority })).toThrow(/`priority` must be an integer/);
    }
    expect(queue.length).toBe(0);
    expect(queue.seek()).toBe(false);
  });

  it('age by a time of at least a millisecond', () => {
    for (const agingMs of [0, 0.5, -1, Number.NaN, Number.NEGATIVE_INFINITY]) {
      expect(() => priorityQueue(agingMs)).toThrow(/`agingMs` must be a number >= 1 or Infinity/);
    }
  });
});
