import { describe, expect, it } from 'vitest';
import { ReportedRate } from '../../../../src/policies/adaptive-rate/reported/reported-rate.ts';
import { HUNDRED, report } from '../reported-answer.ts';

describe('the reports of a limit', () => {
  it('forgets reports of attempts that are older than 15 s', () => {
    const rate = new ReportedRate();
    report(rate, 0, 0, HUNDRED, { now: 14_000 });
    expect(rate.rateAt(100, 15_000)).toBeDefined();
    expect(rate.rateAt(100, 15_001)).toBeUndefined();
    expect(rate.toldPerMs(15_001)).toBeUndefined();
    expect(rate.usualPerMs(15_001)).toBeUndefined();
  });

  it.each([
    ['a minute', 60_000],
    ['an hour', 3_600_000],
  ])('keeps a report of a window of %s for a minute', (_, windowMs) => {
    const rate = new ReportedRate();
    report(rate, 0, 0, { ...HUNDRED, windowMs });
    expect(rate.toldPerMs(60_000)).toBeDefined();
    expect(rate.toldPerMs(60_001)).toBeUndefined();
  });

  it('ignores rejections as long as accepted attempts report nothing', () => {
    const rate = new ReportedRate();
    const used = { ...HUNDRED, remaining: 0, resetMs: 9_000 };
    report(rate, 0, 0, used, { isAccepted: false });
    expect(rate.toldPerMs(0)).toBe(1 / 100);
    rate.missing(0);
    expect(rate.toldPerMs(0)).toBeUndefined();
    report(rate, 10, 1, used, { isAccepted: false });
    // This reset had passed before the answer came.
    report(rate, 10, 2, { ...HUNDRED, isResetTime: true });
    expect(rate.toldPerMs(10)).toBeUndefined();
    report(rate, 20, 3, { ...HUNDRED, resetMs: 5_000 });
    expect(rate.toldPerMs(20)).toBe(1 / 100);
    rate.missing(25);
    report(rate, 30, 4, { ...used, limit: 200 }, { isAccepted: false });
    expect(rate.toldPerMs(30)).toBe(2 / 100);
  });

  it('forgets a report when an attempt of 15 s later tells nothing', () => {
    const rate = new ReportedRate();
    const minute = { ...HUNDRED, windowMs: 60_000 };
    report(rate, 0, 0, minute);
    rate.missing(15_000);
    expect(rate.toldPerMs(15_000)).toBeDefined();
    rate.missing(15_001);
    expect(rate.toldPerMs(15_001)).toBeUndefined();
    report(rate, 16_000, 1, minute);
    expect(rate.toldPerMs(16_000)).toBeDefined();
  });

  it('ignores rejections as long as the resets of accepted attempts have passed', () => {
    const rate = new ReportedRate();
    report(rate, 0, 0, { ...HUNDRED, resetMs: 9_000 }, { isAccepted: false });
    report(rate, 10, 1, { ...HUNDRED, isResetTime: true });
    expect(rate.toldPerMs(10)).toBeUndefined();
  });

  it('ignores what an earlier attempt tells later', () => {
    const rate = new ReportedRate();
    report(rate, 100, 5, HUNDRED);
    report(rate, 0, 4, { ...HUNDRED, limit: 1_000 });
    expect(rate.toldPerMs(100)).toBe(1 / 100);
    report(rate, 100, 5, { ...HUNDRED, limit: 200 });
    expect(rate.toldPerMs(100)).toBe(2 / 100);
  });

  it('does not count an attempt that was rejected as used', () => {
    const rate = new ReportedRate();
    report(rate, 0, 0, { ...HUNDRED, remaining: 3 }, { isAccepted: false });
    expect(rate.rateAt(1.9, 0)).toBeUndefined();
    expect(rate.rateAt(2, 0)).toBeDefined();
    const other = new ReportedRate();
    report(other, 0, 0, { ...HUNDRED, remaining: 3 });
    expect(other.rateAt(2.9, 0)).toBeUndefined();
    expect(other.rateAt(3, 0)).toBeDefined();
  });

  it('counts in what attempts have really cost that were sent before the report', () => {
    const rate = new ReportedRate();
    report(rate, 0, 5, HUNDRED);
    rate.corrected(5, 10);
    rate.corrected(6, 1_000);
    // 6 were sent by then, 16 as it turns out; 50 since.
    expect(rate.rateAt(16 + 49, 0)).toBeUndefined();
    expect(rate.rateAt(16 + 50, 0)).toBeDefined();
  });

  it('changes with the limit at once', () => {
    const rate = new ReportedRate();
    report(rate, 0, 0, HUNDRED);
    report(rate, 1_000, 1, { limit: 50, remaining: 0, windowMs: 10_000 });
    expect(rate.rateAt(2, 1_000)).toBeCloseTo(0.2 / 200, 12);
    report(rate, 2_000, 2, { limit: 200, remaining: 0, windowMs: 10_000 });
    expect(rate.rateAt(3, 2_000)).toBeCloseTo((2 * 0.2) / 100, 12);
  });

  it('is none where the reset has passed before the answer came', () => {
    const rate = new ReportedRate();
    const told = { limit: 1, remaining: 0, isResetTime: true, windowMs: 60_000 };
    report(rate, 0, 0, told, { now: 5_000 });
    expect(rate.rateAt(1, 5_000)).toBeUndefined();
    expect(rate.left(1, 1, 5_000)).toBe(Number.POSITIVE_INFINITY);
  });
});
