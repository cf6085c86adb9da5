import { describe, expect, it } from 'vitest';
import { ReportedRate } from '../../../../src/policies/adaptive-rate/reported/reported-rate.ts';
import { HUNDRED, report } from '../reported-answer.ts';
import { perSecond, play } from '../reported-player.ts';
import { bucket, fixed, sliding, type Window } from '../windows.ts';

describe('a rate that is told', () => {
  it('is none as long as nothing is told', () => {
    const rate = new ReportedRate();
    expect(rate.rateAt(0, 0)).toBeUndefined();
    expect(rate.toldPerMs(0)).toBeUndefined();
    report(rate, 0, 0, { limit: 100 });
    report(rate, 0, 1, { remaining: 50 });
    expect(rate.rateAt(2, 0)).toBeUndefined();
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
});

describe('a rate by the amount left alone', () => {
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

describe('a rate of a sliding window', () => {
  const tell = (limit: number, remaining: number) => {
    const rate = new ReportedRate();
    rate.continue(
      { kind: 'sliding', moves: 0, highest: limit - 1, perMs: null, sharePerMs: null },
      0,
    );
    report(rate, 0, 0, { limit, remaining, resetMs: 10_001, windowMs: 10_000 });
    return rate;
  };

  it('is none while half of the limit is left', () => {
    expect(tell(100, 50).rateAt(1, 0)).toBeUndefined();
    expect(tell(100, 49).rateAt(1, 0)).toBeGreaterThan(0);
  });

  it('is at most the rate of the limit, and falls to a fifth when nothing is left', () => {
    expect(tell(100, 40).rateAt(1, 0)).toBeCloseTo(0.998 * (100 / 10_001), 12);
    expect(tell(100, 0).rateAt(1, 0)).toBeCloseTo((2 / 3) * (100 / 10_001), 12);
    expect(tell(100, 0).rateAt(10, 0)).toBeCloseTo(0.2 * (100 / 10_001), 12);
  });

  it('is none of a limit below 20', () => {
    expect(tell(19, 0).rateAt(1, 0)).toBeUndefined();
    expect(tell(20, 0).rateAt(1, 0)).toBeGreaterThan(0);
  });

  it('alone bounds what is sent', () => {
    const rate = tell(100, 0);
    expect(rate.refillsGradually).toBe(true);
    expect(rate.isExact).toBe(false);
    expect(rate.left(1, 1, 0)).toBe(Number.POSITIVE_INFINITY);
    expect(rate.wait(50, 1, 0)).toBe(0);
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
