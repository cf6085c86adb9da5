import { describe, expect, it } from 'vitest';
import type { ReportedLimit } from '../../../../src/model/feedback.ts';
import { UnitRates } from '../../../../src/policies/adaptive-rate/units/unit-rates.ts';

const none = { perMs: () => Number.POSITIVE_INFINITY, burst: () => 0 };

function minute(unit: ReportedLimit['unit'], limit: number, remaining: number): ReportedLimit {
  return { unit, limit, remaining, resetMs: 30_000, windowMs: 60_000 };
}

/** After 10 requests of 1,000 input and 50 output tokens. */
const LIMITS = [
  minute('requests', 100, 90),
  minute('input-tokens', 100_000, 90_000),
  minute('output-tokens', 1_000, 500),
];

describe('limits on input and on output tokens', () => {
  it('bound how many requests go at once, each by its own cost', () => {
    const units = new UnitRates(none);
    expect(units.leftBy(LIMITS)).toBe(10);
    expect(units.leftBy([minute('requests', 100, 90)])).toBe(90);
    expect(units.leftBy([])).toBeUndefined();
  });

  it('count what requests have used of each', () => {
    const units = new UnitRates(none);
    const early = units.take(0, 0, 0);
    units.report(LIMITS, early, true, 100);
    expect(units.countParts).toBe(true);
    expect(units.tokens).toBeUndefined();
    // Before any usage, a request counts as headers show.
    const costs = () => units.take(100, 200, 0).map((charge) => charge?.cost);
    expect(costs()).toEqual([1, undefined, 1_000, 50]);
    const sent = { charges: early, estimate: 100 };
    units.settle(sent, { tokens: 2_100, inputTokens: 2_000, outputTokens: 100 });
    expect(costs()).toEqual([1, undefined, 2_000, 100]);
  });

  it('explain a rejection if less is left than the request needs', () => {
    const left = (remaining: number): ReportedLimit[] => [
      { unit: 'output-tokens', limit: 1_000, remaining, windowMs: 60_000 },
    ];
    const units = new UnitRates(none);
    units.report([...left(500), minute('requests', 100, 90)], units.take(0, 0, 0), true, 100);
    expect(units.report(left(40), units.take(0, 200, 0), false, 300)).toBe(true);
    expect(units.report(left(400), units.take(0, 400, 0), false, 500)).toBe(false);
  });

  it('set no pace where the usage is one number', () => {
    const units = new UnitRates(none, false);
    units.report(LIMITS, units.take(0, 0, 0), true, 100);
    expect(units.countTokens).toBe(false);
    expect(units.take(100, 200, 0).map((charge) => charge?.cost)).toEqual([1]);
  });
});
