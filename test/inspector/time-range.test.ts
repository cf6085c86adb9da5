import { describe, expect, it } from 'vitest';
import { between, endsOf, moved, scaled } from '../../src/inspector/page/time-range.ts';

const NOW = 10_000;

describe('the part of the time lines that is shown', () => {
  it('ends now while it is live, and begins with what is known, 20 s before now at the least', () => {
    const minute = { isLive: true, seconds: 60 } as const;
    expect(endsOf(minute, 0, NOW)).toEqual({ from: NOW - 60, to: NOW });
    expect(endsOf(minute, NOW - 30, NOW)).toEqual({ from: NOW - 30, to: NOW });
    expect(endsOf(minute, NOW - 3, NOW)).toEqual({ from: NOW - 20, to: NOW });
    expect(endsOf(minute, undefined, NOW)).toEqual({ from: NOW - 20, to: NOW });
  });

  it('is 5 s at the least, and within the last 15 minutes', () => {
    expect(between(9_900, 9_901, NOW)).toEqual({ isLive: false, from: 9_898, to: 9_903 });
    expect(between(NOW - 2, NOW + 30, NOW)).toEqual({ isLive: false, from: NOW - 32, to: NOW });
    expect(between(8_000, 8_100, NOW)).toEqual({ isLive: false, from: NOW - 900, to: NOW - 800 });
  });

  it('is halved and doubled around its middle, and is live once it is as long as all that is kept', () => {
    expect(scaled({ from: 9_800, to: 9_900 }, 0.5, NOW)).toMatchObject({ from: 9_825, to: 9_875 });
    expect(scaled({ from: 9_800, to: 9_900 }, 2, NOW)).toMatchObject({ from: 9_750, to: 9_950 });
    expect(scaled({ from: 9_400, to: 9_900 }, 2, NOW)).toEqual({ isLive: true, seconds: 900 });
  });

  it('moves by half of its length, and not beyond now', () => {
    expect(moved({ from: 9_800, to: 9_900 }, -1, NOW)).toMatchObject({ from: 9_750, to: 9_850 });
    expect(moved({ from: 9_880, to: 9_980 }, 1, NOW)).toMatchObject({ from: 9_900, to: NOW });
  });
});
