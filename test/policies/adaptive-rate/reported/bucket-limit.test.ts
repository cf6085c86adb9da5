import { describe, expect, it } from 'vitest';
import { ReportedRate } from '../../../../src/policies/adaptive-rate/reported/reported-rate.ts';
import { report } from '../reported-answer.ts';

describe('a rate of a bucket', () => {
  it('leaves what is left of a bucket while no rate holds requests back', () => {
    const rate = new ReportedRate();
    const minute = { limit: 100, windowMs: 60_000 };
    report(rate, 0, 0, { ...minute, remaining: 99, resetMs: 600 });
    report(rate, 0, 1, { ...minute, remaining: 98, resetMs: 1_200 });
    expect(rate.left(1, 2, 0)).toBe(98);
    expect(rate.left(1, 52, 0)).toBe(48);
    expect(rate.left(1, 52, 600)).toBeGreaterThan(48.4);
  });

  it('counts the use by others only of a bucket that holds its limit', () => {
    const rate = new ReportedRate();
    // 3 of 600 a minute are missing, which come back in 100 ms each.
    const small = { limit: 600, windowMs: 60_000, remaining: 0 };
    for (let n = 0; n < 20; n += 1) report(rate, n * 100, n, { ...small, resetMs: 301 + (n % 2) });
    expect(rate.wholePerMs(1_900)).toBeCloseTo(1 / 100, 6);
    const whole = new ReportedRate();
    for (let n = 0; n < 20; n += 1) {
      report(whole, n * 100, n, { ...small, remaining: 500 - n, resetMs: 1_001 + n * 10 });
    }
    expect(whole.wholePerMs(1_900)).toBeGreaterThan(8 / 100);
  });

  it('begins with the whole rate of a bucket that had no time to refill by one', () => {
    const rate = new ReportedRate();
    const tell = (order: number, at: number, remaining: number) =>
      report(rate, at, order, { limit: 60, remaining, resetMs: (60 - remaining) * 1_000 - 1 });
    tell(0, 0, 59);
    tell(59, 500, 0);
    expect(rate.usualPerMs(500)).toBeCloseTo(1 / 1_000, 4);
    expect(rate.rateAt(60, 500)).toBeGreaterThan(0.15 / 1_000);
  });

  it('of an empty bucket is that of its window until its refill is measured, or one is rejected', () => {
    const rate = new ReportedRate();
    report(rate, 0, 0, { limit: 60, remaining: 57, resetMs: 3_000 });
    expect([rate.rateAt(50, 0), rate.rateAt(58, 0)]).toEqual([undefined, 60 / 60_000]);
    report(rate, 10, 60, { limit: 60, remaining: 0, resetMs: 60_000 }, { isAccepted: false });
    expect(rate.rateAt(60, 10)).toBeUndefined();
    const small = new ReportedRate();
    report(small, 0, 0, { limit: 20, remaining: 18, resetMs: 3_000 });
    expect(small.rateAt(20, 0)).toBeUndefined();
  });

  it.each([
    ['after', 21_000, 60 / 60_000],
    ['before', 19_000, undefined],
  ])('is that of its window if all rejections came while it was used up: answer %s', (...told) => {
    const [, now, perMs] = told;
    const rate = new ReportedRate();
    report(rate, 0, 0, { limit: 60, remaining: 0, resetMs: 20_000 }, { isAccepted: false });
    expect(rate.rateAt(0, now)).toBeUndefined();
    report(rate, now, 20, { limit: 60, remaining: 39, resetMs: 21_000 });
    expect(rate.rateAt(60, now)).toBe(perMs);
  });

  it('of a bucket is at least what its reset promises', () => {
    const rate = new ReportedRate();
    // Within a third of a second nothing comes back: a window that counts, or too short a time.
    for (let order = 0; order <= 30; order += 1) {
      const resetMs = order < 15 ? 1_000 : 2_000;
      const told = { limit: 100, remaining: 99 - order, resetMs, isResetTime: true };
      report(rate, order * 10, order, told);
    }
    // A time of day may be 1.5 s off, as whole seconds are.
    const promisedPerMs = 30 / 3_500;
    expect(rate.usualPerMs(300)).toBeCloseTo(promisedPerMs, 6);
  });
});
