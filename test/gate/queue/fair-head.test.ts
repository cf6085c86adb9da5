import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { FairQueue } from '../../../src/gate/queue/fair-queue.ts';
import { PriorityOrder } from '../../../src/gate/queue/priority-order.ts';
import {
  costOf,
  isDead,
  keyOf,
  kill,
  peek,
  priorityOf,
  push,
  type Step,
  script,
  type Waiter,
  type Waiters,
  waiter,
} from './waiters.ts';

const newLane = () => new PriorityOrder<Waiter, Waiter>({ priorityOf, agingMs: 10 });

const first = () => new FairQueue<Waiter, Waiter>(isDead, { keyOf, costOf });
const urgent = () => new FairQueue<Waiter, Waiter>(isDead, { keyOf, costOf, newLane });
const haveSameKey = (one: Waiter, other: Waiter) => one.key === other.key;
const anything = script(true);
const noOverflow = anything.map((steps) => steps.filter((step) => step.do !== 'overflow'));

/** What may happen while the head waits on. @returns who has been given up, or has only been looked at */
function disturb(queue: Waiters, step: Step, all: Waiter[], head: Waiter | undefined) {
  if (step.do === 'push') all.push(push(queue, step.sort));
  if (step.do === 'kill') {
    const others = all.filter((item) => !item.dead && item !== head);
    kill(queue, ...others.slice(step.which % (others.length + 1)).slice(0, step.count));
  }
  if (step.do !== 'overflow' || queue.length === 0) return undefined;
  const isGivenUp = queue.seekOldest?.(waiter(), waiter());
  const { item } = queue;
  if (isGivenUp) {
    queue.shift();
    all.splice(all.indexOf(item), 1);
  }
  return item;
}

describe('the head of a fair queue', () => {
  it.each([
    ['first in, first out', first, anything, (one: Waiter, other: Waiter) => one === other],
    ['by priority, without overflow', urgent, noOverflow, () => false],
    ['by priority, without deaths', urgent, script(false), haveSameKey],
  ])('stays until it is shifted or dead: %s', (_, make, scripts, mayDisplace) => {
    fc.assert(
      fc.property(scripts, (steps) => {
        const queue = make();
        const all: Waiter[] = [];
        let head: Waiter | undefined;
        for (const step of steps) {
          const touched = disturb(queue, step, all, head);
          const isSafe = touched === undefined || head === undefined || !mayDisplace(touched, head);
          if (head !== undefined && isSafe) expect(peek(queue)).toBe(head);
          head = peek(queue);
          if (step.do === 'serve' && head !== undefined) {
            queue.shift();
            all.splice(all.indexOf(head), 1);
            head = undefined;
          }
        }
      }),
    );
  });
});
