import { deepEqual, equal } from 'node:assert/strict';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Fifo } from '../../src/queue/fifo.ts';

interface Owner {
  cancelled: boolean;
}

const isCancelled = (_item: number, owner: Owner) => owner.cancelled;

/** A waiter in the model. */
interface Entry {
  item: number;
  owner: Owner;
  since: number;
  reply: string | undefined;
}

interface Pair {
  real: Fifo<number, Owner>;
  model: Entry[];
  next: number;
}

/**
 * The living, as the queue shows them: at the head, in order. With `node:assert`, since `expect`
 * takes a hundred times as long.
 */
function check({ real, model }: Pair): void {
  equal(real.length, model.length);
  equal(real.seek(), model.length > 0);
  const head = model[0];
  if (head === undefined) return;
  const { item, owner, since, reply } = real;
  deepEqual({ item, owner, since, reply }, head);
  equal(real.owner, head.owner);
}

const operations: Record<string, (pair: Pair, number: number) => void> = {
  push(pair, number) {
    for (let n = 0; n < number; n += 1) {
      // A third has no reply, and takes the places of those that had one.
      const reply = pair.next % 3 === 0 ? undefined : `to ${pair.next}`;
      const entry = { item: pair.next, owner: { cancelled: false }, since: pair.next / 3, reply };
      pair.next += 1;
      pair.real.push(entry.item, entry.owner, entry.since, reply);
      pair.model.push(entry);
    }
  },
  shift(pair, number) {
    for (let n = 0; n < number && pair.real.seek(); n += 1) {
      equal(pair.real.item, pair.model[0]?.item);
      pair.real.shift();
      pair.model.shift();
    }
  },
  /** Every so-many-th dies, from the head, the middle and the tail. */
  markCancelled(pair, number) {
    const dying = pair.model.filter((_, index) => index % (1 + (number % 5)) === 0);
    for (const { owner } of dying) owner.cancelled = true;
    pair.model = pair.model.filter(({ owner }) => !owner.cancelled);
    pair.real.markCancelled(dying.length);
  },
  buryTail(pair, number) {
    const dying = pair.model.slice(-number - 1);
    for (const { owner } of dying) owner.cancelled = true;
    pair.model = pair.model.slice(0, pair.model.length - dying.length);
    pair.real.markCancelled(dying.length);
  },
  replace(pair) {
    const head = pair.model[0];
    if (!pair.real.seek() || head === undefined) return;
    head.item = -head.item;
    pair.real.replace(head.item);
  },
};

describe('Fifo', () => {
  it('does as a plain array does, in every script', () => {
    const step = fc.record({
      what: fc.constantFrom('push', 'push', 'shift', 'markCancelled', 'buryTail', 'replace'),
      number: fc.oneof(fc.nat(40), fc.nat(40), fc.nat(3_000)),
      look: fc.boolean(),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const pair: Pair = { real: new Fifo(isCancelled), model: [], next: 0 };
        for (const { what, number, look } of steps) {
          operations[what]?.(pair, number);
          // Not always: a look passes over the cancelled at the head.
          equal(pair.real.length, pair.model.length);
          if (look) check(pair);
        }
        check(pair);
        operations.shift?.(pair, pair.model.length);
        check(pair);
      }),
      { numRuns: 60 },
    );
  });

  it('keeps the order of many thousands, again and again', () => {
    const fifo = new Fifo<number, Owner>(isCancelled);
    const owner = { cancelled: false };
    let pushed = 0;
    let shifted = 0;
    for (const [push, shift] of [
      [10_000, 9_000],
      [10_000, 3_000],
      [5_000, 12_990],
      [10_000, 10],
      [0, 10_000],
    ] as const) {
      for (let n = 0; n < push; n += 1) {
        fifo.push(pushed, owner, pushed / 2);
        pushed += 1;
      }
      for (let n = 0; n < shift; n += 1) {
        const isNext = fifo.seek() && fifo.item === shifted && fifo.since === shifted / 2;
        if (!isNext) expect.fail(`${fifo.item}, since ${fifo.since}, before ${shifted}`);
        fifo.shift();
        shifted += 1;
      }
    }
    expect(fifo.length).toBe(0);
  });

  it('shows all places in order, and moves none', () => {
    const queue = new Fifo<number, Owner>(isCancelled);
    const [mine, theirs] = [{ cancelled: false }, { cancelled: true }];
    for (let n = 0; n < 3_000; n += 1) {
      queue.push(n, n % 3 === 0 ? theirs : mine, n * 10, n === 5 ? 'reply' : undefined);
    }
    for (let n = 0; n < 3; n += 1) queue.shift();
    const seen: unknown[] = [];
    queue.each((item, owner, since, reply) => {
      seen.push(item);
      expect(owner).toBe(item % 3 === 0 ? theirs : mine);
      expect(since).toBe(item * 10);
      expect(reply).toBe(item === 5 ? 'reply' : undefined);
    });
    expect(seen).toEqual(Array.from({ length: 2_997 }, (_, n) => n + 3));
    expect(queue.item).toBe(3);
  });

  it('passes over those that died without being counted', () => {
    const fifo = new Fifo<number, Owner>(isCancelled);
    const owners = [1, 2, 3].map(() => ({ cancelled: false }));
    owners.forEach((owner, index) => {
      fifo.push(index, owner, 0);
    });
    for (const owner of owners.slice(0, 2)) owner.cancelled = true;
    expect(fifo.seek()).toBe(true);
    expect(fifo.item).toBe(2);
    expect(fifo.length).toBe(1);
  });

  it('never counts more cancelled than there are in the queue', () => {
    const fifo = new Fifo<number, Owner>(isCancelled);
    fifo.markCancelled(3);
    expect(fifo.length).toBe(0);
    fifo.push(1, { cancelled: false }, 0);
    expect(fifo.length).toBe(1);
  });
});
