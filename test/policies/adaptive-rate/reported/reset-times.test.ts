import { describe, expect, it } from 'vitest';
import { ReportedRate } from '../../../../src/policies/adaptive-rate/reported/reported-rate.ts';
import { report } from '../reported-answer.ts';

describe('a rate by reported resets', () => {
  it('takes times of one end for one, though they and the date are rounded to seconds', () => {
    const rate = new ReportedRate();
    // The window is full again at 60 s, or a moment later.
    const tell = (order: number, now: number, ofDate: number, endMs: number) => {
      const told = { limit: 100, remaining: 99 - order, windowMs: 60_000, isResetTime: true };
      report(rate, 0, order, { ...told, resetMs: endMs - ofDate }, { now });
    };
    tell(0, 1_000, 1_000, 60_000);
    tell(1, 1_990, 1_000, 61_000);
    tell(2, 2_000, 2_000, 60_000);
    tell(3, 2_990, 2_000, 61_000);
    expect(rate.isExact).toBe(true);
    expect(rate.left(1, 4, 3_000)).toBe(96);
  });

  it.each([
    ['times', { isResetTime: true }],
    ['whole seconds', {}],
  ])('is none while all resets are within the rounding of %s', (_, kind) => {
    const rate = new ReportedRate();
    for (let order = 0; order < 10; order += 1) {
      const told = { limit: 10, remaining: 9 - order, resetMs: 1_000, ...kind };
      report(rate, order * 80, order, told);
    }
    report(
      rate,
      900,
      10,
      { limit: 10, remaining: 0, resetMs: 1_000, ...kind },
      { isAccepted: false },
    );
    expect([rate.rateAt(10, 950), rate.usualPerMs(950)]).toEqual([undefined, undefined]);
    // It does not explain the rejection, from which the rate is to be learned.
    expect(rate.isExact).toBe(false);
    report(rate, 1_000, 11, { limit: 10, remaining: 9, resetMs: 2_000, ...kind });
    expect(rate.usualPerMs(1_000)).toBeGreaterThan(0);
  });

  it('is read from resets within their rounding if the window is told', () => {
    const rate = new ReportedRate();
    for (let order = 0; order < 10; order += 1) {
      const told = { limit: 10, remaining: 9 - order, resetMs: 1_000, windowMs: 1_000 };
      report(rate, order * 80, order, told);
    }
    expect(rate.refillsGradually).toBe(true);
  });
});
