import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ByteBudgetPolicy, DEFAULT_MAX_BYTES } from '../../src/policies/byte-budget-policy.ts';
import { runs } from '../support/runs.ts';
import { demand, modeUntil } from '../support/waiter.ts';

const INFINITY = Number.POSITIVE_INFINITY;
const NOW = 1_000;

describe('ByteBudget', () => {
  it('of 1000 lets 500 and 600 pass, and a third when the first is given back', () => {
    const budget = new ByteBudgetPolicy(1_000, 20);
    expect(budget.wait()).toBe(0);
    const first = budget.take(demand(500), NOW);
    expect(budget.wait()).toBe(0);
    budget.take(demand(600), NOW);
    expect(budget.snapshot()).toEqual({ maxBytes: 1_000, used: 1_100, balance: -100 });
    expect(budget.wait()).toBe(INFINITY);
    budget.giveBack(first);
    expect(budget.wait()).toBe(0);
  });

  it.each([
    // in flight, may another one pass?
    { used: [], passes: true },
    { used: [999], passes: true },
    { used: [1_000], passes: true },
    { used: [1_001], passes: false },
    { used: [1_000, 0], passes: true },
    { used: [1_000, 1], passes: false },
    { used: [5_000_000], passes: false },
  ])('of 1000 with $used in flight: another one passes: $passes', ({ used, passes }) => {
    const budget = new ByteBudgetPolicy(1_000, 20);
    for (const bytes of used) budget.take(demand(bytes), NOW);
    // A request of no size waits as any other: nothing of the request is even asked.
    expect(budget.wait()).toBe(passes ? 0 : INFINITY);
  });

  it('lets one request pass that is larger than the whole budget, but no second', () => {
    const budget = new ByteBudgetPolicy(100, 20);
    const charge = budget.take(demand(1_000_000), NOW);
    expect(budget.wait()).toBe(INFINITY);
    budget.giveBack(charge);
    expect(budget.snapshot()).toEqual({ maxBytes: 100, used: 0, balance: 100 });
  });

  it('of nothing lets one sized request pass at a time', () => {
    const budget = new ByteBudgetPolicy(0, 20);
    const charge = budget.take(demand(1), NOW);
    expect(budget.wait()).toBe(INFINITY);
    budget.giveBack(charge);
    expect(budget.wait()).toBe(0);
  });

  it('is 5 MiB unless told otherwise', () => {
    expect(DEFAULT_MAX_BYTES).toBe(5_242_880);
  });

  it('charges 20 times the size in throttled mode: 100 kB overdraw a budget of 1 MB', () => {
    const budget = new ByteBudgetPolicy(1_000_000, 20, modeUntil(NOW));
    expect(budget.take(demand(100_000), NOW - 1)).toBe(2_000_000);
    expect(budget.snapshot().balance).toBe(-1_000_000);
    expect(budget.take(demand(100_000), NOW)).toBe(100_000);
  });

  it('gives back what was charged, whatever the mode is by then', () => {
    const mode = { throttledUntil: 0 };
    const budget = new ByteBudgetPolicy(1_000, 20, mode);
    const normal = budget.take(demand(30), NOW);
    mode.throttledUntil = NOW + 1;
    const throttled = budget.take(demand(7), NOW);
    expect(budget.used).toBe(30 + 140);
    budget.giveBack(normal);
    expect(budget.used).toBe(140);
    mode.throttledUntil = 0;
    budget.giveBack(throttled);
    expect(budget.used).toBe(0);
  });

  it('follows its maximum while overdrawn', () => {
    const budget = new ByteBudgetPolicy(1_000, 20);
    budget.take(demand(1_500), NOW);
    budget.maxBytes = 1_499;
    expect(budget.wait()).toBe(INFINITY);
    budget.maxBytes = 1_500;
    expect(budget.wait()).toBe(0);
    budget.maxBytes = 10;
    expect(budget.wait()).toBe(INFINITY);
  });
});

describe('the sums of ByteBudget stay exact', () => {
  const size = fc.oneof(
    fc.nat(10_000),
    fc.maxSafeNat(),
    fc.constantFrom(Number.MAX_SAFE_INTEGER, 2 ** 60, 1e300, Number.MAX_VALUE),
  );
  const factor = fc.oneof(
    fc.constantFrom(1, 1.1, 20, 1e300),
    fc.double({ min: 1, max: 100, noNaN: true }),
  );

  it('whatever the sizes and the factor: when all is given back nothing is used', () => {
    fc.assert(
      fc.property(fc.array(size, { maxLength: 20 }), factor, fc.nat(5_000), (sizes, times, max) => {
        const budget = new ByteBudgetPolicy(max, times, modeUntil(INFINITY));
        const charges: number[] = [];
        for (const bytes of sizes) {
          if (budget.wait() > 0) budget.giveBack(charges.shift() as number);
          if (budget.wait() === 0) charges.push(budget.take(demand(bytes), NOW));
        }
        for (const charge of charges) budget.giveBack(charge);
        expect(budget.used).toBe(0);
        expect(budget.wait()).toBe(0);
      }),
      { numRuns: runs(500) },
    );
  });

  it('though a charge is beyond all numbers, which once stopped everyone for ever', () => {
    const budget = new ByteBudgetPolicy(1_000, 20, modeUntil(INFINITY));
    const charge = budget.take(demand(Number.MAX_VALUE), NOW);
    expect(budget.wait()).toBe(INFINITY);
    budget.giveBack(charge);
    expect(budget.snapshot()).toEqual({ maxBytes: 1_000, used: 0, balance: 1_000 });
    expect(budget.wait()).toBe(0);
  });
});
