import { describe, expect, it } from 'vitest';
import { LimitChange, RaisedLimit } from '../../../src/policies/adaptive-rate/limit-change.ts';

/** Reports limits, each as often as it says. @returns the product of all factors */
function factorOf(
  ...reports: readonly (readonly [limit: number, times: number, windowMs?: number])[]
) {
  const change = new LimitChange();
  let learnedPerMs = 1;
  for (const [limit, times, windowMs] of reports) {
    for (let n = 0; n < times; n += 1) {
      learnedPerMs *= change.report(
        { unit: 'requests', limit, windowMs, remaining: 1 },
        learnedPerMs,
      );
    }
  }
  return learnedPerMs;
}

/**
 * The limit changes from 100 to another, and the learned rate to `learned` (before: 1) after five
 * answers that report it.
 */
function factorAfter(limit: number, learned: number): number {
  const change = new LimitChange();
  const tell = (told: number, learnedPerMs: number) =>
    change.report({ unit: 'requests', limit: told, remaining: 1 }, learnedPerMs);
  tell(100, 1);
  for (let n = 0; n < 5; n += 1) tell(limit, 1);
  for (let n = 0; n < 4; n += 1) expect(tell(limit, learned)).toBe(1);
  return tell(limit, learned);
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
    const factors = limits.map((limit) =>
      change.report({ unit: 'requests', limit, remaining: 1 }, 1),
    );
    expect(factors).toEqual(limits.map(() => 1));
  });

  it('is none where the rate is the same in another window', () => {
    expect(factorOf([60, 20, 60_000], [1, 20, 1_000])).toBe(1);
  });

  it.each([20, 1 / 20])('is a change in the same window, also by %f', (factor) => {
    expect(factorOf([600, 20], [600 * factor, 20])).toBeCloseTo(factor, 9);
    expect(factorOf([600, 20, 1_000], [600 * factor, 20, 1_000])).toBeCloseTo(factor, 9);
  });

  it.each([11, 1 / 11])('is another limit if it is %f times as large in another', (factor) => {
    expect(factorOf([600, 20, 60_000], [10 * factor, 20, 1_000])).toBe(1);
    const later = [20 * factor, 20, 1_000] as const;
    expect(factorOf([600, 20, 60_000], [10 * factor, 20, 1_000], later)).toBeCloseTo(2, 9);
  });
});

describe('a learned rate that has changed before the change counts', () => {
  it.each([
    { limit: 10, learned: 0.25, left: 0.4 },
    { limit: 10, learned: 0.05, left: 1 },
    { limit: 10, learned: 2, left: 0.05 },
    { limit: 1_000, learned: 4, left: 2.5 },
    { limit: 1_000, learned: 20, left: 1 },
    { limit: 1_000, learned: 0.5, left: 20 },
  ])('changes by the rest: limit 100 to $limit, rate 1 to $learned', ({ limit, learned, left }) => {
    expect(factorAfter(limit, learned)).toBeCloseTo(left, 9);
  });

  it.each([50, 200])('does not change by a limit of %i if there was none, or is none', (limit) => {
    const change = new LimitChange();
    const tell = (told: number, learnedPerMs: number) =>
      change.report({ unit: 'requests', limit: told, remaining: 1 }, learnedPerMs);
    const tellOften = (told: number, first: number, later: number) =>
      Array.from({ length: 12 }, (_, n) => tell(told, n < 3 ? first : later));
    tell(100, 0);
    expect(tellOften(limit, 0, 1)).toEqual(Array(12).fill(1));
    expect(tellOften(100, 1, 0)).toEqual(Array(12).fill(1));
    expect(tellOften(limit, 0, 0)).toEqual(Array(12).fill(1));
  });
});

describe('a limit that the user raises', () => {
  it('counts above all earlier values', () => {
    const raised = new RaisedLimit(60);
    const factors = [60, 120, 90, 120, 60, 600].map((perMs) => raised.follow(perMs));
    expect(factors).toEqual([1, 2, 1, 1, 1, 5]);
  });

  it('is none where a limit is removed, or the first one is set', () => {
    const { POSITIVE_INFINITY: none } = Number;
    const removed = new RaisedLimit(60);
    expect([none, 60, 120].map((perMs) => removed.follow(perMs))).toEqual([1, 1, 1]);
    const added = new RaisedLimit(none);
    expect([none, 60, 120].map((perMs) => added.follow(perMs))).toEqual([1, 1, 1]);
  });
});
