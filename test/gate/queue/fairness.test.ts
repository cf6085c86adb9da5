import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { FairQueue } from '../../../src/gate/queue/fair-queue.ts';
import { costOf, isDead, keyOf, kill, push, serve, type Waiter } from './waiters.ts';

const KEYS = ['a', 'b', 'c', 'd'];

function fairQueue(minQuantum = 0): FairQueue<Waiter, Waiter> {
  return new FairQueue<Waiter, Waiter>(isDead, { keyOf, costOf, minQuantum });
}

/** How far two keys were served apart while both had waiters: the most over any such period. */
class Gap {
  readonly #one: string;
  readonly #other: string;
  #sum = 0;
  #least = 0;
  #most = 0;
  widest = 0;

  constructor(one: string, other: string) {
    this.#one = one;
    this.#other = other;
  }

  served({ key, cost }: Waiter): void {
    if (key === this.#one) this.#sum += Math.max(1, cost);
    if (key === this.#other) this.#sum -= Math.max(1, cost);
    this.#least = Math.min(this.#least, this.#sum);
    this.#most = Math.max(this.#most, this.#sum);
    this.widest = Math.max(this.widest, this.#most - this.#least);
  }

  /** Starts afresh unless both have waiters. */
  backlog(waiting: ReadonlyMap<string, number>): void {
    if (waiting.get(this.#one) && waiting.get(this.#other)) return;
    this.#sum = 0;
    this.#least = 0;
    this.#most = 0;
  }
}

const arrivals = fc.array(
  fc.record({
    key: fc.constantFrom(...KEYS),
    cost: fc.oneof(fc.integer({ min: 0, max: 9 }), fc.constantFrom(1, 50, 100)),
    serves: fc.integer({ min: 0, max: 2 }),
    dies: fc.integer({ min: 0, max: 9 }).map((chance) => chance === 0),
  }),
  { minLength: 100, maxLength: 400, size: 'max' },
);

describe('what two keys are served while both have waiters', () => {
  it('differs by at most the quantum + 2 x the largest cost, over any period', () => {
    let widestShare = 0;
    const law = fc.property(arrivals, fc.constantFrom(0, 0, 150), (steps, minQuantum) => {
      const queue = fairQueue(minQuantum);
      const pairs = KEYS.flatMap((one, at) =>
        KEYS.slice(at + 1).map((other) => new Gap(one, other)),
      );
      const living = new Set<Waiter>();
      const leave = (item: Waiter) => {
        living.delete(item);
        const waiting = new Map<string, number>();
        for (const { key } of living) waiting.set(key, (waiting.get(key) ?? 0) + 1);
        for (const pair of pairs) pair.backlog(waiting);
      };
      const next = () => {
        const item = serve(queue);
        if (item === undefined) return false;
        for (const pair of pairs) pair.served(item);
        leave(item);
        return true;
      };
      for (const { key, cost, serves, dies } of steps) {
        const item = push(queue, { key, cost });
        living.add(item);
        if (dies) {
          const [dead = item] = living;
          kill(queue, dead);
          leave(dead);
        }
        for (let count = 0; count < serves; count += 1) next();
      }
      while (next());
      const largest = Math.max(...steps.map(({ cost }) => cost), 1);
      const bound = Math.max(minQuantum, largest) + 2 * largest;
      for (const { widest } of pairs) {
        expect(widest).toBeLessThanOrEqual(bound);
        widestShare = Math.max(widestShare, widest / bound);
      }
    });
    fc.assert(law, { seed: 1, numRuns: 200 });
    // The scripts must come near the bound, or they would prove nothing.
    expect(widestShare).toBeGreaterThan(0.6);
  });

  it('differs by at most the quantum + the largest cost, from when both had nothing left', () => {
    const costs = fc.array(fc.integer({ min: 1, max: 20 }), { minLength: 60, maxLength: 60 });
    fc.assert(
      fc.property(costs, costs, (ofA, ofB) => {
        const queue = fairQueue(20);
        for (const cost of ofA) push(queue, { key: 'a', cost });
        for (const cost of ofB) push(queue, { key: 'b', cost });
        const served = { a: 0, b: 0 };
        const left = { a: 60, b: 60 };
        while (left.a > 0 && left.b > 0) {
          const item = serve(queue);
          const key = item?.key === 'a' ? 'a' : 'b';
          served[key] += item?.cost ?? 0;
          left[key] -= 1;
          expect(Math.abs(served.a - served.b)).toBeLessThanOrEqual(20 + 20);
        }
      }),
    );
  });

  it('is the same for a key that sends one request at a time, and no more', () => {
    const queue = fairQueue();
    for (let count = 0; count < 100; count += 1) push(queue, { key: 'many', cost: 7 });
    push(queue, { key: 'single', cost: 7 });
    const served = { many: 0, single: 0 };
    for (let count = 0; count < 100; count += 1) {
      const item = serve(queue);
      served[item?.key === 'single' ? 'single' : 'many'] += 1;
      if (item?.key === 'single') push(queue, { key: 'single', cost: 7 });
    }
    expect(served).toEqual({ many: 50, single: 50 });
  });
});

describe('a key of a fair queue', () => {
  it('waits one round at most, however many wait for other keys', () => {
    const queue = fairQueue();
    for (let count = 0; count < 10_000; count += 1) push(queue, { key: `k${count % 10}` });
    for (let count = 0; count < 5; count += 1) serve(queue);
    const newcomer = push(queue, { key: 'new' });
    let rounds = 0;
    while (serve(queue) !== newcomer) rounds += 1;
    // Five are left of this round, and four of the next come before the one that was served last.
    expect(rounds).toBe(9);
  });
});
