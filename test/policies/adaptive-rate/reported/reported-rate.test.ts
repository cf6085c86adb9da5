import { describe, expect, it } from 'vitest';
import type { ReportedLimit } from '../../../../src/model/feedback.ts';
import { ReportedRate } from '../../../../src/policies/adaptive-rate/reported/reported-rate.ts';
import { perSecond, play } from '../reported-player.ts';
import { bucket, fixed, sliding, type Window } from '../windows.ts';

/** A report after so many accepted attempts; the attempt itself is one more. */
function report(
  rate: ReportedRate,
  at: number,
  order: number,
  limit: Partial<ReportedLimit>,
  { now = at, isAccepted = true, cost = 1 } = {},
): void {
  const attempt = { at, order, total: order, cost, isOwed: true };
  rate.reported({ unit: 'requests', ...limit }, attempt, isAccepted, order + 1, now);
}

const HUNDRED = { limit: 100, remaining: 51, windowMs: 10_000 };

describe('a rate that is told', () => {
  it('is none as long as nothing is told', () => {
    const rate = new ReportedRate();
    expect(rate.rateAt(0, 0)).toBeUndefined();
    expect(rate.toldPerMs(0)).toBeUndefined();
    report(rate, 0, 0, { limit: 100 });
    report(rate, 0, 1, { remaining: 50 });
    expect(rate.rateAt(2, 0)).toBeUndefined();
  });

  it('bounds nothing while more is left than is spared, then a fifth goes to be told more', () => {
    const rate = new ReportedRate();
    report(rate, 0, 0, HUNDRED);
    expect(rate.toldPerMs(0)).toBe(1 / 100);
    expect(rate.usualPerMs(0)).toBe(1 / 100);
    // 51 were left, and one is to be spared.
    expect(rate.rateAt(1 + 49, 0)).toBeUndefined();
    expect(rate.rateAt(1 + 50, 0)).toBeCloseTo(0.2 / 100, 12);
    expect(rate.rateAt(500, 0)).toBeCloseTo(0.2 / 100, 12);
  });

  it('spares half a percent of a large limit', () => {
    const rate = new ReportedRate();
    report(rate, 0, 0, { limit: 10_000, remaining: 5_001, windowMs: 10_000 });
    expect(rate.rateAt(5_002 - 51, 0)).toBeUndefined();
    expect(rate.rateAt(5_002 - 50, 0)).toBeCloseTo(0.2, 12);
  });

  it('leaves what is left of a bucket while no rate holds requests back', () => {
    const rate = new ReportedRate();
    const minute = { limit: 100, windowMs: 60_000 };
    report(rate, 0, 0, { ...minute, remaining: 99, resetMs: 600 });
    report(rate, 0, 1, { ...minute, remaining: 98, resetMs: 1_200 });
    expect(rate.left(1, 2, 0)).toBe(98);
    expect(rate.left(1, 52, 0)).toBe(48);
    expect(rate.left(1, 52, 600)).toBeGreaterThan(48.4);
  });

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

  it('ignores rejections as long as the resets of accepted attempts have passed', () => {
    const rate = new ReportedRate();
    report(rate, 0, 0, { ...HUNDRED, resetMs: 9_000 }, { isAccepted: false });
    report(rate, 10, 1, { ...HUNDRED, isResetTime: true });
    expect(rate.toldPerMs(10)).toBeUndefined();
  });

  it('lets a pace make up for lost time with half of what is left, but not in a fixed window', () => {
    const unusedOf = (limit: Window, size: number) => {
      const { reported } = play(limit, () => ({ limit: size, windowMs: 10_000 }), 60, 5);
      const spare = 1;
      return { unused: reported.unused(300, 60_000), most: (limit.left(60_000) - spare) / 2 };
    };
    const gradual = unusedOf(sliding(100, 10_000), 100);
    expect(gradual.unused).toBeGreaterThan(0.8 * gradual.most);
    expect(gradual.unused).toBeLessThanOrEqual(1.2 * gradual.most);
    expect(unusedOf(fixed(100, 10_000), 100).unused).toBe(0);
  });

  it.each([
    { what: 'a used-up limit', limit: 600, resetMs: 60_000, perMs: 1 / 100 },
    { what: 'a limit on the distance', limit: 600, resetMs: 100, perMs: 0 },
    { what: 'a small limit', limit: 5, resetMs: 60_000, perMs: 0 },
  ])('says whether others may use up $what of $limit a minute', ({ limit, resetMs, perMs }) => {
    const rate = new ReportedRate();
    for (let order = 0; order < 20; order += 1) {
      report(rate, order * 100, order, { limit, remaining: 0, resetMs: resetMs - 5 });
    }
    expect(rate.wholePerMs(2_000)).toBeCloseTo(perMs, 6);
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

  it.each([
    [undefined, false],
    [60_000, true],
  ])('explains a rejection without a reset only by a window: %s ms', (windowMs, isExact) => {
    const rate = new ReportedRate();
    report(rate, 0, 0, { limit: 10, remaining: 1, windowMs });
    report(rate, 10, 1, { limit: 10, remaining: 0, windowMs }, { isAccepted: false });
    expect(rate.isExact).toBe(isExact);
  });

  it('is none where a window has no length and shows none', () => {
    const rate = new ReportedRate();
    report(rate, 0, 0, { limit: 100, remaining: 50 });
    expect(rate.rateAt(1, 0)).toBeUndefined();
    // By the minute, as far as one knows.
    expect(rate.toldPerMs(0)).toBe(100 / 60_000);
  });
});

describe('a rate that is told of a limit, by what is left', () => {
  const minute = { limit: 600, windowMs: 60_000 };
  it.each<[string, Window, { limit: number; windowMs?: number; tellsReset?: boolean }, number]>([
    ['a bucket of 10 s', bucket(10, 100), { limit: 100, windowMs: 10_000 }, 9.95],
    ['a bucket without a window', bucket(10, 100), { limit: 100 }, 9.95],
    ['a bucket that holds less than is told', bucket(10, 100), minute, 9.95],
    ['a bucket of a minute', bucket(10, 600), minute, 9.95],
    ['a bucket without times of reset', bucket(10, 100), { ...minute, tellsReset: false }, 9.85],
    ['a fixed window', fixed(600, 60_000), minute, 9.95],
    ['a fixed window without its length', fixed(600, 60_000), { limit: 600 }, 9.95],
    ['a sliding window', sliding(600, 60_000), minute, 9.85],
    ['a sliding window without its length', sliding(300, 30_000), { limit: 300 }, 9.85],
  ])('uses all of %s, without rejections', (_what, limit, told, least) => {
    const { acceptedAt, rejectedAt } = play(limit, () => told, 300);
    expect(perSecond(acceptedAt, 60, 300)).toBeGreaterThan(least);
    expect(perSecond(acceptedAt, 60, 300)).toBeLessThan(10.05);
    expect(perSecond(rejectedAt, 60, 300)).toBe(0);
  });

  it('uses all of a fixed window without its end, with a few rejections by which that is found', () => {
    const told = { ...minute, tellsReset: false };
    const { acceptedAt, rejectedAt } = play(fixed(600, 60_000), () => told, 300);
    expect(perSecond(acceptedAt, 60, 300)).toBeGreaterThan(9.95);
    expect(perSecond(rejectedAt, 60, 300)).toBeLessThan(2);
  });

  it.each([
    ['a bucket', bucket(0.5, 600)],
    ['a sliding window', sliding(600, 1_200_000)],
  ])('lets half of %s go at once at the start', (_what, limit) => {
    const { acceptedAt } = play(limit, () => ({ limit: 600, windowMs: 1_200_000 }), 10);
    expect(acceptedAt.length).toBeGreaterThan(270);
  });

  it('bounds nothing while a bucket is half full', () => {
    const { rates } = play(bucket(10, 600), () => minute, 300, 9);
    // Fewer are sent than come back: all is left.
    expect(rates.slice(30)).toEqual(rates.slice(30).map(() => undefined));
  });

  it('follows a bucket that is halved, and one that is doubled', () => {
    for (const [before, after] of [
      [100, 50],
      [50, 100],
    ] as const) {
      const first = bucket(before / 10, before);
      const second = bucket(after / 10, after);
      const at = (now: number) => (now < 60_000 ? first : second);
      const { acceptedAt, rejectedAt } = play(
        {
          left: (now) => at(now).left(now),
          take: (now) => at(now).take(now),
          resetMs: (now) => at(now).resetMs(now),
        },
        (now) => ({ limit: now < 60_000 ? before : after, windowMs: 10_000 }),
        180,
        20,
      );
      expect(perSecond(acceptedAt, 120, 180)).toBeGreaterThan(0.98 * (after / 10));
      expect(rejectedAt.filter((at) => at > 50_000).length).toBeLessThan(5);
    }
  });

  it('is off again 15 s after the last answer that told it', () => {
    const told = { limit: 100, windowMs: 10_000 };
    const { rates } = play(bucket(10, 100), (now) => (now < 30_000 ? told : undefined), 60);
    expect(rates[30]).toBeDefined();
    expect(rates[44]).toBeDefined();
    expect(rates[46]).toBeUndefined();
  });
});

describe('after a time without demand', () => {
  /**
   * A bucket of 100 that fills up at 10 a second, of which almost nothing is left after a minute.
   */
  function usedUp() {
    const told = { limit: 100, windowMs: 10_000 };
    const { reported, acceptedAt } = play(bucket(10, 100), () => told, 60);
    return { rate: reported, sent: acceptedAt.length };
  }

  it('what has come back goes at once, and the rest at its pace', () => {
    const { rate, sent } = usedUp();
    expect(rate.rateAt(sent, 63_000)).toBeDefined();
    rate.resumed(sent, 63_000);
    expect(rate.rateAt(sent + 28, 63_000)).toBeUndefined();
    expect(rate.rateAt(sent + 36, 63_000)).toBeDefined();
  });

  it('a bucket holds no more than it told, however long that time was', () => {
    const { rate, sent } = usedUp();
    rate.resumed(sent, 1_000_000);
    expect(rate.rateAt(sent + 96, 1_000_000)).toBeUndefined();
    expect(rate.rateAt(sent + 97, 1_000_000)).toBeDefined();
  });

  it('no more than the limit goes at once before the next such time', () => {
    const { rate, sent } = usedUp();
    rate.resumed(sent, 100_000);
    report(rate, 101_000, 1_000, { limit: 100, remaining: 45, resetMs: 5_500, windowMs: 10_000 });
    expect(rate.rateAt(sent + 99, 101_000)).toBeUndefined();
    expect(rate.rateAt(1_002, 101_000)).toBeDefined();
  });

  it('a counter that slides still counts a part of its last window', () => {
    const rate = new ReportedRate();
    // Others use it, or it counts what was used before it began: what is left is spread.
    for (let order = 0; order < 20; order += 1) {
      const told = { limit: 100, remaining: 79 - 3 * order, resetMs: 10_001, windowMs: 10_000 };
      report(rate, order * 200, order, told);
    }
    rate.resumed(20, 4_000);
    expect(rate.rateAt(20 + 20, 4_000)).toBeUndefined();
    expect(rate.rateAt(20 + 22, 4_000)).toBeDefined();
    // Its reset is over since half of a window: half of the 78 that were used count no more.
    rate.resumed(20, 13_801 + 5_000);
    expect(rate.rateAt(20 + 59, 18_801)).toBeUndefined();
  });
});
