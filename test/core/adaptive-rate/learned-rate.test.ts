import { describe, expect, it } from 'vitest';
import { LearnedRate } from '../../../src/core/adaptive-rate/learned-rate.ts';
import { FALLBACK_PER_MS, FLOOR_PER_MS, perSecond, play } from './learned-player.ts';
import { bucket, fixed, sliding } from './windows.ts';

const learning = (startPerMs = 1 / 100) =>
  new LearnedRate(startPerMs, FALLBACK_PER_MS, FLOOR_PER_MS, 0);

/** A rejection after so many that were accepted, of which each has cost as much. */
function reject(
  learned: LearnedRate,
  at: number,
  accepted: number,
  how: { now?: number; order?: number; sent?: number; retryAfterMs?: number; cost?: number } = {},
): boolean {
  const { now = at, order = accepted, retryAfterMs = 0, cost = 1 } = how;
  const { sent = order + 1 } = how;
  const attempt = { at, order, accepted, total: accepted * cost };
  return learned.rejected(attempt, sent, now, retryAfterMs);
}

describe('a rate, until the first rejection', () => {
  it('doubles in a second, while somebody waits for it', () => {
    const learned = learning();
    expect(learned.rateAt(0, true)).toBe(1 / 100);
    expect(learned.rateAt(500, true)).toBeCloseTo(Math.SQRT2 / 100, 12);
    expect(learned.rateAt(1_000, true)).toBeCloseTo(2 / 100, 12);
    expect(learned.rateAt(9_000, false)).toBeCloseTo(2 / 100, 12);
    expect(learned.rateAt(9_500, true)).toBeCloseTo((2 * Math.SQRT2) / 100, 12);
    // Nobody has asked for an hour: it is no reason to send 2^3600 times as much.
    expect(learned.rateAt(3_600_000, true)).toBeCloseTo((4 * Math.SQRT2) / 100, 12);
    expect(learned.ceilingPerMs).toBeUndefined();
  });

  it('follows what is known otherwise, and grows from there', () => {
    const learned = learning();
    learned.follow(1 / 20, 10_000);
    expect(learned.rateAt(10_000, true)).toBe(1 / 20);
    expect(learned.rateAt(11_000, true)).toBe(1 / 10);
  });

  it('starts again from two a second where nothing was accepted', () => {
    const learned = learning(Number.POSITIVE_INFINITY);
    expect(reject(learned, 100, 0)).toBe(false);
    expect(learned.rateAt(100, true)).toBe(FALLBACK_PER_MS);
    expect(learned.rateAt(1_100, true)).toBe(2 * FALLBACK_PER_MS);
    expect(learned.ceilingPerMs).toBeUndefined();
    // Again, and again.
    reject(learned, 1_100, 0, { order: 2 });
    expect(learned.rateAt(1_100, true)).toBe(FALLBACK_PER_MS);
    const slow = learning(1 / 5_000);
    reject(slow, 100, 0);
    expect(slow.rateAt(100, false)).toBe(1 / 5_000);
  });

  it('stays unknown where nothing was accepted, and there is nothing to fall back to', () => {
    const { POSITIVE_INFINITY } = Number;
    const learned = new LearnedRate(POSITIVE_INFINITY, POSITIVE_INFINITY, FLOOR_PER_MS, 0);
    reject(learned, 100, 0);
    expect(learned.rateAt(100, true)).toBe(POSITIVE_INFINITY);
    expect(reject(learned, 2_000, 30)).toBe(true);
    expect(learned.ceilingPerMs).toBeCloseTo(30 / 1_900, 12);
  });

  it('is then what was accepted, or nine tenths of what was sent last', () => {
    const even = learning();
    reject(even, 2_000, 30);
    expect(even.ceilingPerMs).toBe(30 / 2_000);
    expect(even.lastCutAt).toBe(2_000);
    const grown = learning();
    for (let at = 1_910; at <= 2_000; at += 10) grown.sent(at);
    reject(grown, 2_000, 30);
    expect(grown.ceilingPerMs).toBeCloseTo(0.9 / 10, 12);
    const costly = learning();
    for (let at = 1_910; at <= 2_000; at += 10) costly.sent(at);
    reject(costly, 2_000, 30, { cost: 100 });
    expect(costly.ceilingPerMs).toBeCloseTo(100 * (0.9 / 10), 12);
  });

  it('goes by the window alone where that stays closed for long', () => {
    const learned = learning();
    for (let at = 1_910; at <= 2_000; at += 10) learned.sent(at);
    reject(learned, 2_000, 30, { retryAfterMs: 58_000 });
    expect(learned.ceilingPerMs).toBe(30 / 60_000);
  });
});

describe('a rate that was learned', () => {
  it('is held for 10 s, and then exceeded more and more', () => {
    const learned = learning();
    reject(learned, 2_000, 40);
    const ceiling = 40 / 2_000;
    expect(learned.rateAt(2_000, true)).toBeCloseTo(0.99 * ceiling, 12);
    expect(learned.rateAt(11_999, true)).toBeCloseTo(0.99 * ceiling, 12);
    expect(learned.rateAt(12_000, true)).toBeCloseTo(1.02 * ceiling, 12);
    expect(learned.rateAt(13_500, true)).toBeCloseTo(1.04 * ceiling, 12);
    expect(learned.rateAt(16_500, true)).toBeCloseTo(1.16 * ceiling, 12);
    expect(learned.rateAt(1e9, true)).toBe(ceiling * (1 + 0.02 * 2 ** 16));
  });

  it('is tried no faster than rejections come that would say it is too much', () => {
    const learned = learning();
    reject(learned, 2_000, 40, { now: 18_000 });
    // The mean delay is 2 s by now: it doubles every 4 s.
    expect(learned.rateAt(28_000 + 4_000, true)).toBeCloseTo((1.04 * 40) / 2_000, 12);
    // Hours on the way count as half a minute.
    const slept = learning();
    reject(slept, 2_000, 40, { now: 3_600_000 });
    expect(slept.rateAt(3_610_000 + 7_500, true)).toBeCloseTo((1.04 * 40) / 2_000, 12);
  });

  it('is held for five minutes at the most, however low', () => {
    const learned = learning();
    // One in 25 s, twice: a hundred of these would be more than forty minutes.
    reject(learned, 100_000, 4);
    reject(learned, 200_000, 8, { order: 9 });
    const { ceilingPerMs = 0 } = learned;
    expect(ceilingPerMs).toBeCloseTo(1 / 25_000, 9);
    expect(learned.rateAt(499_999, true)).toBeLessThan(ceilingPerMs);
    expect(learned.rateAt(500_000, true)).toBeGreaterThan(ceilingPerMs);
  });

  it('is held for 26 s where it was as it had been', () => {
    const learned = learning();
    reject(learned, 2_000, 40);
    expect(reject(learned, 12_000, 240, { now: 12_000 })).toBe(true);
    expect(learned.ceilingPerMs).toBe(200 / 10_000);
    expect(learned.rateAt(37_999, true)).toBeCloseTo(0.99 / 50, 12);
    expect(learned.rateAt(38_000, true)).toBeCloseTo(1.02 / 50, 12);
  });

  it('is held for 1.4 times as long where a limit was configured', () => {
    const learned = learning();
    learned.limitedTo(1, 0);
    expect(learned.rateAt(0, false)).toBe(1);
    reject(learned, 2_000, 40);
    reject(learned, 12_000, 240);
    expect(learned.rateAt(12_000 + 1.4 * 26_000 - 1, true)).toBeCloseTo(0.99 / 50, 12);
    expect(learned.rateAt(12_000 + 1.4 * 26_000, true)).toBeCloseTo(1.02 / 50, 12);
  });

  it('is held for at least a hundred requests', () => {
    const learned = learning();
    reject(learned, 10_000, 10);
    reject(learned, 30_000, 30);
    expect(learned.rateAt(129_999, true)).toBeCloseTo(0.99 / 1_000, 12);
    expect(learned.rateAt(130_000, true)).toBeCloseTo(1.02 / 1_000, 12);
  });

  it('is taken to fall on where it falls', () => {
    const learned = learning();
    reject(learned, 2_000, 40);
    // 25 % less: an eighth more is taken away.
    reject(learned, 12_000, 190);
    expect(learned.ceilingPerMs).toBeCloseTo((150 / 10_000) * (1 - 0.125), 12);
    // No more than 15 %, however far it fell.
    reject(learned, 22_000, 200);
    expect(learned.ceilingPerMs).toBeCloseTo((10 / 10_000) * 0.85, 12);
  });

  it('is not changed by what was sent before the last cut was noticed', () => {
    const learned = learning();
    reject(learned, 2_000, 40, { sent: 60 });
    const { ceilingPerMs } = learned;
    for (let order = 41; order < 60; order += 1) {
      expect(reject(learned, 2_010, 41, { order })).toBe(false);
    }
    expect(learned.ceilingPerMs).toBe(ceilingPerMs);
    expect(learned.lastCutAt).toBe(2_000);
    expect(reject(learned, 12_000, 240, { order: 260 })).toBe(true);
  });

  it('is braked while rejections follow each other closely, before they tell another', () => {
    const learned = learning();
    reject(learned, 2_000, 40);
    const ceiling = learned.ceilingPerMs ?? 0;
    expect(reject(learned, 3_000, 41)).toBe(false);
    expect(learned.rateAt(3_000, true)).toBeCloseTo((0.99 * ceiling) / 2, 12);
    expect(reject(learned, 3_100, 44)).toBe(false);
    expect(learned.rateAt(3_100, true)).toBeCloseTo((0.99 * ceiling) / 4, 12);
    learned.sent(3_200);
    expect(learned.rateAt(3_200, true)).toBeCloseTo((0.99 * ceiling * 1.1) / 4, 12);
    expect(learned.lastCutAt).toBe(2_000);
    // Five were accepted since: that tells.
    expect(reject(learned, 4_000, 45)).toBe(true);
    expect(learned.ceilingPerMs).toBeCloseTo((5 / 2_000) * 0.85, 12);
  });

  it('is braked to no less than the least that can be learned', () => {
    const learned = learning();
    reject(learned, 2_000, 40);
    for (let n = 1; n <= 40; n += 1) reject(learned, 2_000 + n, 41, { order: 41 + n });
    expect(learned.rateAt(3_000, true)).toBeCloseTo(0.99 * FLOOR_PER_MS, 12);
    for (let n = 0; n < 500; n += 1) learned.sent(3_000);
    expect(learned.rateAt(3_000, true)).toBeCloseTo(0.99 / 50, 12);
  });

  it('learns how long a window is while nothing is accepted', () => {
    const learned = learning();
    reject(learned, 2_000, 40);
    expect(reject(learned, 5_000, 40, { order: 45 })).toBe(false);
    expect(learned.ceilingPerMs).toBeCloseTo((40 / 5_000) * 0.85, 12);
    // The last cut is as late as that: what was sent before says nothing new.
    expect(reject(learned, 4_000, 40, { order: 44 })).toBe(false);
    expect(learned.ceilingPerMs).toBeCloseTo((40 / 5_000) * 0.85, 12);
  });

  it('is not doubted by a long time without anything accepted, once it was confirmed', () => {
    const learned = learning();
    reject(learned, 2_000, 40);
    reject(learned, 12_000, 240);
    expect(learned.ceilingPerMs).toBe(200 / 10_000);
    expect(reject(learned, 21_999, 240, { order: 245 })).toBe(false);
    expect(learned.ceilingPerMs).toBeLessThan(200 / 10_000);
    const other = learning();
    reject(other, 2_000, 40);
    reject(other, 12_000, 240);
    reject(other, 22_000, 240, { order: 245 });
    expect(other.ceilingPerMs).toBe(200 / 10_000);
  });

  it('leaves out time that tells nothing, and tries no more right after it', () => {
    const learned = learning();
    reject(learned, 2_000, 40);
    learned.skip(100_000, 112_500);
    expect(learned.rateAt(122_499, true)).toBeCloseTo(0.99 / 50, 12);
    expect(learned.rateAt(122_500, true)).toBeGreaterThan(1 / 50);
    reject(learned, 112_600, 252);
    expect(learned.ceilingPerMs).toBeCloseTo(212 / 10_600, 12);
  });

  it('is held for as much longer as time told nothing', () => {
    const learned = learning();
    reject(learned, 2_000, 40);
    learned.skip(5_000, 2_500);
    expect(learned.rateAt(16_999, true)).toBeCloseTo(0.99 / 50, 12);
    expect(learned.rateAt(17_000, true)).toBeCloseTo(1.02 / 50, 12);
  });

  it('is tried higher at once now and then; where that holds, later congestions lower it no more', () => {
    const learned = learning();
    reject(learned, 2_000, 40);
    for (let at = 13_910; at <= 14_000; at += 10) learned.sent(at);
    // While more was sent: what was measured is tried to be exceeded, and held to see.
    reject(learned, 14_000, 40 + 240);
    const tried = 0.02 * 1.135;
    expect(learned.ceilingPerMs).toBeCloseTo(tried, 12);
    expect(learned.rateAt(39_999, true)).toBeCloseTo(0.99 * tried, 12);
    // That much was accepted.
    reject(learned, 20_000, 280 + 134);
    const found = 134 / 6_000;
    expect(learned.ceilingPerMs).toBeCloseTo(found, 12);
    // What was not used since is lost: the mean says nothing against it.
    reject(learned, 31_000, 414 + 209);
    expect(learned.ceilingPerMs).toBeCloseTo(found, 12);
  });

  it('counts in what attempts have really cost', () => {
    const learned = learning();
    reject(learned, 2_000, 40, { cost: 100 });
    learned.corrected(10, 1_000);
    learned.rejected({ at: 12_000, order: 240, accepted: 240, total: 24_000 }, 241, 12_000, 0);
    expect(learned.ceilingPerMs).toBeCloseTo(19_000 / 10_000, 12);
  });

  it('is at least one request in half a minute, whatever that costs', () => {
    const learned = learning();
    reject(learned, 2_000, 40);
    reject(learned, 1e7, 46);
    expect(learned.ceilingPerMs).toBe(FLOOR_PER_MS);
    const tokens = learning();
    reject(tokens, 2_000, 40, { cost: 1_000 });
    reject(tokens, 1e7, 46, { cost: 1_000 });
    expect(tokens.ceilingPerMs).toBeCloseTo(1_000 * FLOOR_PER_MS, 12);
    // Large ones were rejected meanwhile: what is left of the sum is less than nothing.
    const odd = learning();
    reject(odd, 2_000, 40, { cost: 1_000 });
    odd.rejected({ at: 12_000, order: 100, accepted: 50, total: 10_000 }, 101, 12_000, 0);
    expect(odd.ceilingPerMs).toBeCloseTo(200 * FLOOR_PER_MS, 12);
  });
});

describe('a rate that is learned of a limit', () => {
  it.each([
    ['a bucket that holds a second', bucket(10, 10), {}, 10],
    ['a bucket that holds ten seconds', bucket(10, 100), {}, 10],
    ['a fast bucket', bucket(200, 2_000), {}, 200],
    ['windows of a second', fixed(10, 1_000), {}, 10],
    ['a fixed window that tells when it opens', fixed(600, 60_000), { tellsWait: true }, 10],
    ['a sliding window of 10 s', sliding(100, 10_000), {}, 10],
    ['a bucket with answers that come late', bucket(10, 10), { delayMs: 3_000 }, 10],
  ])('is right within 5 %% after a minute, with few rejections: %s', (_what, limit, how, rate) => {
    const { learned, acceptedAt, rejectedAt } = play(limit, { seconds: 300, ...how });
    expect((learned.ceilingPerMs ?? 0) * 1_000).toBeGreaterThan(0.95 * rate);
    expect((learned.ceilingPerMs ?? 0) * 1_000).toBeLessThan(1.05 * rate);
    expect(perSecond(acceptedAt, 60, 300)).toBeGreaterThan(0.94 * rate);
    expect(perSecond(rejectedAt, 60, 300)).toBeLessThan(0.025 * rate);
  });

  it('finds a slow one too', () => {
    const { acceptedAt, rejectedAt } = play(bucket(0.5, 1), { seconds: 600 });
    expect(perSecond(acceptedAt, 60, 600)).toBeGreaterThan(0.4);
    expect(rejectedAt.length).toBeLessThan(12);
  });

  it('follows one that falls to a fifth, and one that rises fivefold, within a minute', () => {
    const slow = bucket(10, 10);
    const fast = bucket(50, 50);
    const falling = play(
      { ...slow, take: (now) => (now < 100_000 ? fast : slow).take(now) },
      { seconds: 200 },
    );
    expect(perSecond(falling.acceptedAt, 160, 200)).toBeGreaterThan(9);
    expect(perSecond(falling.rejectedAt, 160, 200)).toBeLessThan(0.3);
    const low = bucket(10, 10);
    const high = bucket(50, 50);
    const rising = play(
      { ...low, take: (now) => (now < 100_000 ? low : high).take(now) },
      { seconds: 250 },
    );
    expect(perSecond(rising.acceptedAt, 160, 250)).toBeGreaterThan(45);
  });
});
