import { equal, ok } from 'node:assert/strict';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { REQUEST_OPTIONS } from '../../../../src/options/limiter-config.ts';
import { checkOptions } from '../../../../src/policies/option.ts';
import { Fifo } from '../../../../src/queue/fifo.ts';
import { PriorityQueue } from '../../../../src/queue/priority-queue.ts';
import { type Overflow, type QueueBound, seekDropped } from '../../../../src/queue/queue-rules.ts';
import { queueRulesOf } from '../../../../src/request/gate-opener.ts';
import { systemClock } from '../../../../src/util/clock.ts';
import {
  isCancelled,
  keyOf,
  kill,
  priorityOf,
  push,
  type Sort,
  script,
  serve,
  serveAll,
  type Waiter,
  type Waiters,
  waiter,
} from '../../../queue/queue/waiters.ts';

const fifo = () => new Fifo<Waiter, Waiter>(isCancelled);
const priorities = () =>
  new PriorityQueue<Waiter, Waiter>(isCancelled, { priorityOf, agingMs: 10 });

/** The bound that options set. */
function queueBound(maxQueue?: number, overflow?: Overflow): QueueBound {
  const options = { maxQueue, overflow };
  checkOptions(REQUEST_OPTIONS, options);
  return queueRulesOf(options, systemClock, false).capacity.bound;
}

/** What a gate does with a newcomer. @returns who has gone */
function enter(queue: Waiters, bound: QueueBound, sort: Sort = {}): Waiter[] {
  const newcomer = waiter(sort);
  const gone: Waiter[] = [];
  while (queue.length >= bound.maxQueue) {
    if (!seekDropped(queue, bound, newcomer, newcomer)) return [...gone, newcomer];
    gone.push(queue.item);
    queue.shift();
  }
  queue.push(newcomer, newcomer, 0);
  return gone;
}

describe('a bound', () => {
  it('is off by default, and full means an error', () => {
    expect(queueBound()).toEqual({ maxQueue: Number.POSITIVE_INFINITY, overflow: 'error' });
    const queue = fifo();
    for (let count = 0; count < 1000; count += 1) expect(enter(queue, queueBound())).toEqual([]);
  });

  it('must be a valid number', () => {
    for (const maxQueue of [-1, 0.5, Number.NaN, Number.NEGATIVE_INFINITY]) {
      expect(() => queueBound(maxQueue)).toThrow(
        /`maxQueue` must be an integer >= 0 or Infinity, got/,
      );
    }
    expect(() => queueBound(1, 'drop' as Overflow)).toThrow(
      /`overflow` must be one of "error", "dr/,
    );
  });

  it.each([['error' as const], ['drop-oldest' as const], ['drop-newest' as const]])(
    'of 0 lets no newcomer wait, and keeps earlier waiters: %s',
    (overflow) => {
      const queue = fifo();
      const before = push(queue);
      expect(enter(queue, queueBound(0, overflow), { key: 'new' }).map(keyOf)).toEqual(['new']);
      expect(serve(queue)).toBe(before);
    },
  );

  it.each([['fifo', fifo] as const, ['priority', priorities] as const])(
    'is kept exactly, with any cancelled waiters: %s',
    (_, make) => {
      const bounds = fc.record({
        maxQueue: fc.integer({ min: 0, max: 40 }),
        overflow: fc.constantFrom<Overflow[]>('error', 'drop-oldest', 'drop-newest'),
      });
      fc.assert(
        fc.property(script(true), bounds, (steps, bound) => {
          const queue = make();
          let living: Waiter[] = [];
          for (const step of steps) {
            if (step.do === 'push') {
              const newcomer = waiter(step.sort);
              const isFull = living.length === bound.maxQueue;
              const isDropped = isFull && seekDropped(queue, bound, newcomer, newcomer);
              // At each step with `node:assert`: `expect` takes a hundred times as long.
              if (bound.overflow !== 'drop-oldest') equal(isDropped, false);
              if (isDropped) {
                ok(living.includes(queue.item));
                living = living.filter((item) => item !== queue.item);
                queue.shift();
              }
              if (!isFull || isDropped) {
                queue.push(newcomer, newcomer, 0);
                living.push(newcomer);
              }
            }
            if (step.do === 'serve') {
              const item = serve(queue);
              living = living.filter((other) => other !== item);
            }
            if (step.do === 'kill') {
              kill(queue, ...living.slice(step.which % (living.length + 1)).slice(0, step.count));
              living = living.filter((item) => !item.cancelled);
            }
            equal(queue.length, living.length);
            ok(queue.length <= bound.maxQueue);
          }
          expect(new Set(serveAll(queue))).toEqual(new Set(living));
        }),
      );
    },
  );

  it('that was lowered drops exactly the excess', () => {
    const queue = fifo();
    const items = Array.from({ length: 10 }, () => push(queue));
    expect(enter(queue, queueBound(4, 'drop-oldest'))).toEqual(items.slice(0, 7));
    expect(queue.length).toBe(4);
  });
});

describe('the oldest', () => {
  it('is the head when it is first in, first out', () => {
    const queue = fifo();
    const [first, second, third] = [push(queue), push(queue), push(queue)];
    kill(queue, first);
    expect(enter(queue, queueBound(2, 'drop-oldest'))).toEqual([second]);
    expect(serve(queue)).toBe(third);
  });

  it('is the oldest of the lowest priority, or the newcomer if it is lower still', () => {
    const queue = priorities();
    const bound = queueBound(3, 'drop-oldest');
    const [high, old, young] = [2, 1, 1].map((priority) => push(queue, { priority }));
    const [humble] = enter(queue, bound, { priority: 0 });
    expect(humble?.priority).toBe(0);
    expect(enter(queue, bound, { priority: 1 })).toEqual([old]);
    expect(enter(queue, bound, { priority: 9 })).toEqual([young]);
    expect(serveAll(queue).map(priorityOf)).toEqual([9, 2, 1]);
    expect(high?.cancelled).toBe(false);
  });
});
