import { describe, expect, it } from 'vitest';
import { Holdings } from '../../src/fleet/holdings.ts';
import type { Plan } from '../../src/fleet/protocol.ts';

describe('grants that a worker has not used', () => {
  it('are used in the order in which they are due, not in that of their replies', () => {
    const { credits } = new Holdings();
    // Granted at a low rate, and again after the rate has risen.
    credits.add([2], 0, 20_000, 2);
    credits.add([2], 100, 200, 2);
    expect(credits.dueAt([1])).toBe(150);
    credits.spend([1]);
    expect(credits.dueAt([1])).toBe(200);
    credits.spend([1]);
    expect(credits.dueAt([1])).toBe(10_000);
    expect(credits.lastDueAt).toBe(20_000);
  });

  it('are given back if a learned rate has doubled, unless they are due', () => {
    const { credits } = new Holdings();
    const plan = (requestsPerHour: number, tokensPerHour = 0) =>
      ({ requestsPerHour, tokensPerHour }) as unknown as Plan;
    credits.add([0, 1], 0, 100, 1, plan(10));
    credits.add([0, 1], 0, 20_000, 1, plan(10));
    credits.add([0, 1], 0, 30_000, 1);
    expect(credits.takeOutgrown(plan(19), 100, 2)).toEqual([0, 0]);
    expect(credits.takeOutgrown(plan(5, 7), 100, 2)).toEqual([0, 0]);
    expect(credits.takeOutgrown(plan(20), 100, 2)).toEqual([0, 1]);
    expect(credits.unused(2)).toEqual([0, 2]);
    credits.add([4, 1], 0, 20_000, 1, plan(10, 100));
    expect(credits.takeOutgrown(plan(10, 200), 100, 2)).toEqual([4, 1]);
    credits.add([4, 1], 0, 20_000, 1, plan(10, 100));
    expect(credits.takeOutgrown(plan(0, 100), 100, 2)).toEqual([4, 1]);
    expect(credits.lastDueAt).toBe(30_000);
  });

  it('cover a request together, when the last of them is due', () => {
    const { credits } = new Holdings();
    credits.add([2], 0, 20_000, 2);
    credits.add([2], 100, 200, 2);
    expect(credits.dueAt([3])).toBe(10_000);
    expect(credits.dueAt([5])).toBe(Number.POSITIVE_INFINITY);
  });
});
