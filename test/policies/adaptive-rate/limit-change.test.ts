import { describe, expect, it } from 'vitest';
import { LimitChange } from '../../../src/policies/adaptive-rate/limit-change.ts';

/** Reports limits, each as often as it says. @returns the product of all factors */
function factorOf(
  ...reports: readonly (readonly [limit: number, times: number, windowMs?: number])[]
) {
  const change = new LimitChange();
  let product = 1;
  for (const [limit, times, windowMs] of reports) {
    for (let n = 0; n < times; n += 1) {
      product *= change.report({ unit: 'requests', limit, windowMs, remaining: 1 });
    }
  }
  return product;
}

describe('a changed limit', () => {
  it('is none at the first report', () => {
    expect(factorOf([60, 30])).toBe(1);
  });

  it('counts when ten answers in a row report it', () => {
    expect(factorOf([60, 1], [120, 9])).toBe(1);
    expect(factorOf([60, 1], [120, 10])).toBe(2);
    expect(factorOf([60, 1], [120, 30])).toBe(2);
    expect(factorOf([60, 20], [24, 20], [96, 20])).toBeCloseTo(1.6, 9);
  });

  it('is followed while it drifts', () => {
    const drift = Array.from({ length: 41 }, (_, n) => [100 + n, 1] as const);
    expect(factorOf(...drift)).toBeCloseTo(1.4, 9);
  });

  it('is none where answers tell two limits in turn', () => {
    const change = new LimitChange();
    const limits = Array.from({ length: 50 }, (_, n) => (n % 2 === 0 ? 60 : 500));
    const factors = limits.map((limit) => change.report({ unit: 'requests', limit, remaining: 1 }));
    expect(factors).toEqual(limits.map(() => 1));
  });

  it('is none where the rate is the same in another window', () => {
    expect(factorOf([60, 20, 60_000], [1, 20, 1_000])).toBe(1);
  });

  it.each([11, 1 / 11])('is another limit if it is %f times as large', (factor) => {
    expect(factorOf([600, 20], [600 * factor, 20])).toBe(1);
    expect(factorOf([600, 20], [600 * factor, 20], [1_200 * factor, 20])).toBeCloseTo(2, 9);
  });
});
