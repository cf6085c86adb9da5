import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { FairOrder } from '../../src/queue/fair-order.ts';

const KEYS = ['a', 'b', 'c', 'd'];

/** A contender with a queue of costs. */
class Spender {
  readonly places = [0, 0];
  startsAt = 0;
  finishesAt = 0;
  isNew = true;
  arrival = 0;
  readonly key: string;
  costs: number[] = [];

  constructor(key: string) {
    this.key = key;
  }

  get cost(): number {
    return this.costs[0] ?? Number.NaN;
  }
}

/** How far two were served apart while both had something to spend on: the most over any period. */
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

  served(key: string, cost: number): void {
    if (key === this.#one) this.#sum += Math.max(1, cost);
    if (key === this.#other) this.#sum -= Math.max(1, cost);
    this.#least = Math.min(this.#least, this.#sum);
    this.#most = Math.max(this.#most, this.#sum);
    this.widest = Math.max(this.widest, this.#most - this.#least);
  }

  /** Starts afresh unless both have something. */
  backlog(has: (key: string) => boolean): void {
    if (has(this.#one) && has(this.#other)) return;
    this.#sum = 0;
    this.#least = 0;
    this.#most = 0;
  }
}

/** Spenders, each in the order as long as it has something to spend on. */
class Table {
  readonly order = new FairOrder<Spender>();
  readonly spenders = new Map<string, Spender>();
  readonly gaps = KEYS.flatMap((one, at) => KEYS.slice(at + 1).map((other) => new Gap(one, other)));

  push(key: string, ...costs: number[]): void {
    const spender = this.#of(key);
    const isNew = spender.costs.length === 0;
    spender.costs.push(...costs);
    if (isNew) this.order.join(spender, spender.cost);
  }

  /** The key that is served. */
  serve(): string | undefined {
    const spender = this.order.next;
    if (spender === undefined) return undefined;
    const [cost = 0] = spender.costs.splice(0, 1);
    this.order.serve(spender);
    for (const gap of this.gaps) gap.served(spender.key, cost);
    this.#goOn(spender);
    return spender.key;
  }

  /** The first that it wanted to spend on has gone. */
  drop(key: string): void {
    const spender = this.#of(key);
    if (spender.costs.length === 0) return;
    spender.costs.shift();
    this.#goOn(spender);
  }

  #goOn(spender: Spender): void {
    if (spender.costs.length === 0) this.order.leave(spender);
    else this.order.change(spender, spender.cost);
    for (const gap of this.gaps) gap.backlog((key) => this.#of(key).costs.length > 0);
  }

  #of(key: string): Spender {
    const spender = this.spenders.get(key) ?? new Spender(key);
    this.spenders.set(key, spender);
    return spender;
  }
}

const steps = fc.array(
  fc.record({
    key: fc.constantFrom(...KEYS),
    cost: fc.oneof(fc.integer({ min: 0, max: 9 }), fc.constantFrom(1, 50, 100)),
    serves: fc.integer({ min: 0, max: 2 }),
    drops: fc.integer({ min: 0, max: 9 }).map((chance) => chance === 0),
  }),
  { minLength: 100, maxLength: 400, size: 'max' },
);

describe('what two are served while both have something to spend on', () => {
  it('differs by at most 2 x the largest cost, over any period', () => {
    let widestShare = 0;
    const law = fc.property(steps, (script) => {
      const table = new Table();
      for (const { key, cost, serves, drops } of script) {
        table.push(key, cost);
        if (drops) table.drop(key);
        for (let count = 0; count < serves; count += 1) table.serve();
      }
      while (table.serve() !== undefined);
      const largest = Math.max(...script.map(({ cost }) => cost), 1);
      const bound = 2 * largest;
      for (const { widest } of table.gaps) {
        expect(widest).toBeLessThanOrEqual(bound);
        widestShare = Math.max(widestShare, widest / bound);
      }
    });
    fc.assert(law, { seed: 1, numRuns: 200 });
    // The scripts must come near the bound, or they would prove nothing.
    expect(widestShare).toBeGreaterThan(0.8);
  });

  it('is the same for one that comes anew for each', () => {
    const table = new Table();
    table.push('a', ...Array.from({ length: 100 }, () => 7));
    table.push('b', 7);
    const served: string[] = [];
    for (let count = 0; count < 100; count += 1) {
      const key = table.serve() ?? '';
      served.push(key);
      if (key === 'b') table.push('b', 7);
    }
    expect(served.filter((key) => key === 'b')).toHaveLength(50);
  });
});

/** What each is served, in all, of `many` that always have large requests and others that `come`. */
function share(many: number, serves: number, come: (table: Table, at: number) => void) {
  const table = new Table();
  for (let each = 0; each < many; each += 1) {
    table.push(`large${each}`, ...Array.from({ length: serves }, () => 500));
  }
  const counts: Record<string, number> = {};
  for (let at = 0; at < serves; at += 1) {
    come(table, at);
    const key = table.serve() ?? '';
    counts[key] = (counts[key] ?? 0) + 1;
  }
  return counts;
}

describe('small requests beside large ones', () => {
  it('go first while those that send them have less than their part', () => {
    // It always comes back after its last request, before the next one is served.
    const counts = share(9, 6_000, (table) => {
      if (table.spenders.get('small')?.costs.length !== 1) table.push('small', 1);
    });
    const part = (counts.small ?? 0) / (500 * (counts.large0 ?? 0));
    expect(part).toBeGreaterThan(0.9);
    expect(part).toBeLessThan(1.1);
  });

  it('go first although the one that sends them is away for a while after each', () => {
    const counts = share(9, 6_000, (table, at) => {
      if (at % 10 === 0) table.push('small', 1);
    });
    expect(counts.small).toBe(600);
  });

  it('do not hold back the large ones if each comes from another sender', () => {
    const counts = share(1, 6_000, (table, at) => table.push(`new ${at}`, 1));
    // It waits beside one of them at a time: a third is its part, as new ones never pay for others.
    expect(counts.large0).toBeGreaterThan(2);
  });
});

describe('a fair order', () => {
  const serveAll = (table: Table) => {
    const served: string[] = [];
    for (let key = table.serve(); key !== undefined; key = table.serve()) served.push(key);
    return served.join('');
  };

  it('serves what would be finished first, and of two those that came first', () => {
    const table = new Table();
    table.push('a', 3, 1, 1, 1, 1);
    table.push('b', 1, 1, 1, 1);
    expect(serveAll(table)).toBe('bbababaaa');
    for (const key of ['a', 'b', 'c']) table.push(key, 3, 3);
    expect(serveAll(table)).toBe('abcabc');
  });

  it('does not let free requests go first for ever', () => {
    const table = new Table();
    table.push('a', ...Array.from({ length: 100 }, () => 0));
    table.push('b', 5);
    expect(serveAll(table).indexOf('b')).toBeLessThanOrEqual(5);
  });

  it('gives one that was away nothing for that time', () => {
    const table = new Table();
    table.push('a', ...Array.from({ length: 30 }, () => 1));
    for (let count = 0; count < 20; count += 1) table.serve();
    table.push('b', ...Array.from({ length: 10 }, () => 1));
    expect(serveAll(table)).toMatch(/^(ab|ba){10}$/);
  });

  it('treats all alike that come after all have left', () => {
    const table = new Table();
    table.push('a', 1_000);
    table.push('b', 2_000);
    expect(table.serve()).toBe('a');
    table.drop('b');
    for (const key of ['a', 'b']) table.push(key, 1, 1);
    expect(serveAll(table)).toBe('abab');
  });
});

describe('a request that has cost more than was expected', () => {
  /** The keys of the next turns of two that stay, after one of them has spent 1, and in truth 100. */
  function turnsAfter(isIn: boolean): string {
    const order = new FairOrder<Spender>();
    const [one, other] = [new Spender('a'), new Spender('b')];
    order.join(one, 1);
    const cost = order.serve(one);
    if (!isIn) order.leave(one);
    else order.join(other, 1);
    order.correct(one, cost, 100, isIn);
    if (!isIn) {
      order.join(one, 1);
      order.join(other, 1);
    }
    let turns = '';
    for (let turn = 0; turn < 8; turn += 1) {
      const { next } = order;
      if (next === undefined) break;
      turns += next.key;
      order.serve(next);
    }
    return turns;
  }

  it('sets its contender back, as long as others contend', () => {
    expect(turnsAfter(true)).toBe('bbbbbbbb');
  });

  it('is forgotten if none contends by then', () => {
    expect(turnsAfter(false)).toBe('abababab');
  });
});
