import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { FairOrder } from '../../../src/gate/queue/fair-order.ts';
import { FairQueue } from '../../../src/gate/queue/fair-queue.ts';
import { PriorityOrder } from '../../../src/gate/queue/priority-order.ts';
import { type Model, play } from './scripts.ts';
import {
  costOf,
  isDead,
  keyOf,
  kill,
  priorityOf,
  push,
  script,
  serve,
  serveAll,
  type Waiter,
} from './waiters.ts';

function fairQueue(minQuantum = 0): FairQueue<Waiter, Waiter> {
  return new FairQueue<Waiter, Waiter>(isDead, { keyOf, costOf, minQuantum });
}

/** Deficit round robin over arrays: the key whose turn it is comes first. */
class NaiveRounds implements Model {
  #keys: { key: string; deficit: number; items: Waiter[]; hadLength: number }[] = [];
  #quantum = 0;
  #begun = false;
  #chosen: Waiter | undefined;
  #changes = 0;

  push(item: Waiter): void {
    let lane = this.#keys.find(({ key }) => key === item.key);
    if (lane === undefined) {
      lane = { key: item.key, deficit: 0, items: [], hadLength: 0 };
      this.#keys.push(lane);
    }
    lane.items.push(item);
    this.#note(lane);
  }

  next(): Waiter | undefined {
    while (this.#chosen === undefined) {
      const [lane, ...rest] = this.#keys;
      const head = lane?.items[0];
      if (lane === undefined || head === undefined) return undefined;
      const cost = Math.max(1, head.cost);
      this.#quantum = Math.max(this.#quantum, cost);
      if (!this.#begun) lane.deficit += this.#quantum;
      this.#begun = lane.deficit >= cost;
      if (this.#begun) this.#chosen = head;
      else this.#keys = [...rest, lane];
    }
    return this.#chosen;
  }

  oldest(): Waiter | undefined {
    const most = Math.max(...this.#keys.map(({ items }) => items.length));
    const longest = this.#keys.filter(({ items }) => items.length === most);
    const oldest = longest.toSorted((one, other) => one.hadLength - other.hadLength)[0]?.items[0];
    if (oldest === this.#chosen) this.#chosen = undefined;
    return oldest;
  }

  replace(item: Waiter, by: Waiter): void {
    this.#chosen = by;
    for (const { items } of this.#keys) {
      if (items[0] === item) items[0] = by;
    }
  }

  remove(item: Waiter, served: boolean): void {
    const lane = this.#keys.find(({ key }) => key === item.key);
    if (lane === undefined) return;
    if (served) lane.deficit -= Math.max(1, item.cost);
    if (item === this.#chosen) this.#chosen = undefined;
    lane.items.splice(lane.items.indexOf(item), 1);
    this.#note(lane);
    if (lane.items.length > 0) return;
    if (lane === this.#keys[0]) this.#begun = false;
    this.#keys = this.#keys.filter((other) => other !== lane);
    if (this.#keys.length === 0) this.#quantum = 0;
  }

  living(): readonly Waiter[] {
    return this.#keys.flatMap(({ items }) => items);
  }

  #note(lane: { hadLength: number }): void {
    this.#changes += 1;
    lane.hadLength = this.#changes;
  }
}

describe('the order of a fair queue', () => {
  it('is that of deficit round robin over arrays', () => {
    fc.assert(fc.property(script(false), (steps) => play(fairQueue(), new NaiveRounds(), steps)));
  });

  it('serves keys in turns, each first in, first out', () => {
    const queue = fairQueue();
    for (const key of ['a', 'a', 'a', 'b', 'b', 'c']) push(queue, { key });
    const served = serveAll(queue);
    expect(served.map(keyOf).join('')).toBe('abcaba');
    for (const key of ['a', 'b', 'c']) {
      const ids = served.filter((item) => item.key === key).map(({ id }) => id);
      expect(ids).toEqual(ids.toSorted((one, other) => one - other));
    }
  });

  it('counts cost, not requests', () => {
    const queue = fairQueue();
    for (let count = 0; count < 10; count += 1) push(queue, { key: 'large', cost: 10 });
    for (let count = 0; count < 100; count += 1) push(queue, { key: 'small', cost: 1 });
    const half = Array.from({ length: 55 }, () => serve(queue)?.key);
    expect(half.filter((key) => key === 'large')).toHaveLength(5);
  });

  it('serves `minQuantum` of one key in a row', () => {
    const queue = fairQueue(3);
    for (const key of ['a', 'a', 'a', 'a', 'b', 'b', 'b', 'b']) push(queue, { key });
    expect(serveAll(queue).map(keyOf).join('')).toBe('aaabbbab');
  });

  it('does not let free requests keep the turn', () => {
    const queue = fairQueue();
    for (let count = 0; count < 1000; count += 1) push(queue, { key: 'free', cost: 0 });
    const paying = push(queue, { key: 'paying', cost: 5 });
    const before = serveAll(queue).indexOf(paying);
    expect(before).toBeLessThanOrEqual(5);
  });
});

describe('a key of a fair queue', () => {
  it('is dropped with its last waiter, and what it had left with it', () => {
    const queue = fairQueue(10);
    push(queue, { key: 'a' });
    push(queue, { key: 'b' });
    serve(queue);
    expect(queue.keys).toBe(1);
    // With the 9 that it had left, the turn of a would be worth 19.
    for (let count = 0; count < 30; count += 1) push(queue, { key: 'a' });
    for (let count = 0; count < 30; count += 1) push(queue, { key: 'b' });
    expect(serveAll(queue).slice(0, 30).map(keyOf).join('')).toBe(
      `${'b'.repeat(10)}${'a'.repeat(10)}${'b'.repeat(10)}`,
    );
    expect(queue.keys).toBe(0);
  });

  it('does not remember the largest cost of a time before the queue was empty', () => {
    const queue = fairQueue(2);
    push(queue, { cost: 1000 });
    serve(queue);
    push(queue, { cost: 1 });
    queue.seek();
    expect(queue.quantum).toBe(2);
  });

  it('may serve by priority, or be fair in itself', () => {
    const newLane = () => new PriorityOrder<Waiter, Waiter>({ priorityOf, agingMs: 10 });
    const byPriority = new FairQueue<Waiter, Waiter>(isDead, { keyOf, costOf, newLane });
    for (const priority of [0, 1, 2]) push(byPriority, { key: 'a', priority });
    for (const priority of [0, 1, 2]) push(byPriority, { key: 'b', priority });
    const served = serveAll(byPriority).map(({ key, priority }) => `${key}${priority}`);
    expect(served).toEqual(['a2', 'b2', 'a1', 'b1', 'a0', 'b0']);

    const tenant = ({ key }: Waiter) => key.slice(0, 1);
    const nested = new FairQueue<Waiter, Waiter>(isDead, {
      keyOf: tenant,
      costOf,
      newLane: () => new FairOrder<Waiter, Waiter>({ keyOf, costOf }),
    });
    for (const key of ['a1', 'a1', 'a1', 'a2', 'b1', 'b1', 'b1', 'b1']) push(nested, { key });
    const keys = serveAll(nested).map(keyOf);
    expect(keys).toEqual(['a1', 'b1', 'a2', 'b1', 'a1', 'b1', 'a1', 'b1']);
  });

  it('is not charged for the dead, in lanes that are fair too', () => {
    const fairLane = () => new FairOrder<Waiter, Waiter>({ keyOf, costOf, minQuantum: 3 });
    const oneLane = { keyOf: () => 'all', costOf, newLane: fairLane };
    for (const queue of [fairQueue(3), new FairQueue<Waiter, Waiter>(isDead, oneLane)]) {
      const [dying = push(queue)] = ['a', 'a', 'a', 'a', 'a'].map((key) => push(queue, { key }));
      for (const key of ['b', 'b', 'b']) push(queue, { key });
      queue.seek();
      kill(queue, dying);
      expect(serveAll(queue).map(keyOf).join('')).toBe('aaabbba');
    }
  });
});

describe('the costs of a fair queue', () => {
  it('must be finite numbers >= 0', () => {
    for (const cost of [-1, Number.NaN, Number.POSITIVE_INFINITY]) {
      const queue = fairQueue();
      push(queue, { cost });
      expect(() => queue.seek()).toThrow(/`cost` must be a finite number >= 0/);
    }
    expect(() => fairQueue(-1)).toThrow(/`minQuantum` must be a finite number >= 0/);
  });
});
