import { describe, expect, it } from 'vitest';
import { SlowComparison } from '../../../../src/policies/adaptive-rate/random-rejections/slow-comparison.ts';

const PER_MS = 0.1;

/** Plays attempts and closures of a second; each rejection ends a cycle. */
function player() {
  const comparison = new SlowComparison();
  let at = 0;
  const settle = (isRejected: boolean, { pacePerMs = PER_MS, idleMs = 0, isBare = false } = {}) => {
    at += 1 / pacePerMs;
    return comparison.settled(isRejected, { at, pacePerMs, idleMs, isBare }, 0);
  };
  const cycle = (accepted: number, given = {}) => {
    for (let n = 1; n < accepted; n += 1) settle(false, given);
    settle(true, given);
    at += 1_000;
    // The first attempt that is accepted again ends the closure.
    settle(false, given);
    comparison.stopped(PER_MS);
  };
  const begin = (given = {}) => {
    for (const accepted of [100, 10, 100]) cycle(accepted, given);
  };
  return { comparison, settle, cycle, begin };
}

/** The share that was found when so many of the attempts in a row are rejected, each n-th of them. */
function share({ settle }: ReturnType<typeof player>, every: number, most = 1_000) {
  for (let n = 1; n <= most; n += 1) {
    const found = settle(n % every === 0, { pacePerMs: 0.03 });
    if (found !== undefined) return found.share;
  }
  return undefined;
}

describe('a comparison with slower attempts', () => {
  it('sends four fifths of what was accepted, or of the measured rate if that is more', () => {
    const { comparison, begin } = player();
    expect(comparison.mostPerMs(0.01)).toBe(Number.POSITIVE_INFINITY);
    begin();
    // 210 were accepted in 2.1 s at the pace and in three seconds closed.
    expect(comparison.mostPerMs(0.01)).toBeCloseTo((0.8 * 210) / 5_100, 3);
    expect(comparison.mostPerMs(0.2)).toBeCloseTo(0.16);
  });

  it('finds that the same share is rejected', () => {
    const played = player();
    played.begin();
    // 3 of 213 before, 2 of 100 now.
    const mean = 5 / 313;
    expect(share(played, 50)).toBeCloseTo(mean + Math.sqrt((mean * (1 - mean)) / 313), 6);
    expect(played.comparison.mostPerMs(0)).toBe(Number.POSITIVE_INFINITY);
  });

  it('finds nothing where three times the expected number is accepted', () => {
    const played = player();
    played.begin();
    expect(share(played, 300)).toBeUndefined();
    expect(played.comparison.mostPerMs(0)).toBe(Number.POSITIVE_INFINITY);
  });

  it('leaves out attempts that were sent faster', () => {
    const { comparison, settle, begin } = player();
    begin();
    for (let n = 0; n < 1_000; n += 1) settle(n % 2 === 0);
    expect(comparison.mostPerMs(0)).toBeLessThan(1);
  });

  it.each([
    ['time without demand', { idleMs: 1 }, false],
    ['a rejection that names no wait', { isBare: true }, true],
  ])('ends with %s', (_, given, isRejected) => {
    const { comparison, settle, begin } = player();
    begin();
    settle(isRejected, given);
    expect(comparison.mostPerMs(0)).toBe(Number.POSITIVE_INFINITY);
  });

  it('does not begin where rejections name no wait', () => {
    const { comparison, begin } = player();
    begin({ isBare: true });
    expect(comparison.mostPerMs(0)).toBe(Number.POSITIVE_INFINITY);
  });

  it('needs twice as many irregular closures after each mistake', () => {
    const { comparison, begin } = player();
    const begun = () => {
      for (let count = 1; count < 10; count += 1) {
        begin();
        if (comparison.mostPerMs(0) < 1) return count;
      }
      return 0;
    };
    expect(begun()).toBe(1);
    comparison.fail();
    expect(begun()).toBe(2);
    comparison.fail();
    expect(begun()).toBe(4);
  });
});
