import { describe, expect, it } from 'vitest';
import { Holdings } from '../../src/fleet/holdings.ts';

describe('grants that a worker has not used', () => {
  it('are used in the order in which they are due, not in that of their replies', () => {
    const { credits } = new Holdings();
    // Granted at a low rate, and again after the rate has risen.
    credits.add([2], [0], [20_000], 2);
    credits.add([2], [100], [200], 2);
    expect(credits.dueAt([1])).toBe(150);
    credits.spend([1]);
    expect(credits.dueAt([1])).toBe(200);
    credits.spend([1]);
    expect(credits.dueAt([1])).toBe(10_000);
    expect(credits.lastDueAt).toBe(20_000);
  });

  it('are due when all of their amounts have flowed in', () => {
    const { credits } = new Holdings();
    credits.add([2, 0, 30], [0, 0, -100], [200, 0, 100], 2);
    expect(credits.dueAt([1, 0, 0])).toBe(100);
    expect(credits.dueAt([0, 0, 30])).toBe(100);
    expect(credits.dueAt([2, 0, 10])).toBe(200);
    expect(credits.dueAt([0, 1, 10])).toBe(Number.POSITIVE_INFINITY);
    expect(credits.lastDueAt).toBe(200);
  });

  it('are due sooner or later as a learned rate changes, except those that are due', () => {
    const { credits } = new Holdings();
    const add = (until: number) => credits.add([0, 1, 1], [0, 0, 0], [0, until, 50], 1);
    add(100);
    add(20_000);
    credits.rescale(1, [0.5, 3], 1_000);
    credits.spend([0, 1, 1]);
    expect(credits.dueAt([0, 1, 1])).toBe(1_000 + 19_000 / 2);
    credits.rescale(1, [4, 1], 2_000);
    expect(credits.dueAt([0, 1, 1])).toBe(2_000 + 4 * 8_500);
    credits.rescale(1, [0, 1], 2_000);
    expect(credits.dueAt([0, 1, 1])).toBe(2_000);
    credits.rescale(1, [3, 3], 2_000);
    expect(credits.takeStale(2_001, 3)).toEqual([0, 1, 1]);
  });

  it('of before a rate was learned are due with their other amounts, for each request', () => {
    const { credits } = new Holdings();
    credits.add([2, 0], [-100, 0], [300, 0], 2);
    credits.cover([0, 5], 100);
    expect(credits.unused(2)).toEqual([2, 10]);
    expect(credits.dueAt([1, 5])).toBe(100);
    expect(credits.dueAt([2, 10])).toBe(300);
  });

  it('keep their times at a known limit, and the order in which they are due', () => {
    const { credits } = new Holdings();
    credits.add([0, 1], [0, 0], [0, 5_000], 1);
    credits.add([1, 1], [0, 0], [10, 6_000], 1);
    credits.rescale(1, [2], 0);
    expect(credits.dueAt([1, 0])).toBe(10);
    expect(credits.dueAt([0, 1])).toBe(6_000);
    expect(credits.lastDueAt).toBe(10_000);
  });

  it('cover a request together, when the last of them is due', () => {
    const { credits } = new Holdings();
    credits.add([2], [0], [20_000], 2);
    credits.add([2], [100], [200], 2);
    expect(credits.dueAt([3])).toBe(10_000);
    expect(credits.dueAt([5])).toBe(Number.POSITIVE_INFINITY);
  });
});
