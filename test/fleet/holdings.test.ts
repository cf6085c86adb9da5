import { describe, expect, it } from 'vitest';
import { Holdings } from '../../src/fleet/holdings.ts';

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

  it('cover a request together, when the last of them is due', () => {
    const { credits } = new Holdings();
    credits.add([2], 0, 20_000, 2);
    credits.add([2], 100, 200, 2);
    expect(credits.dueAt([3])).toBe(10_000);
    expect(credits.dueAt([5])).toBe(Number.POSITIVE_INFINITY);
  });
});
