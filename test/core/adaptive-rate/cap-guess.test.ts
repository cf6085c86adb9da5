import { describe, expect, it } from 'vitest';
import { CapGuess } from '../../../src/core/adaptive-rate/cap-guess.ts';
import { OverloadLimit } from '../../../src/core/adaptive-rate/overload-limit.ts';
import type { Verdict } from '../../../src/model/feedback.ts';

const BARE: Verdict = { kind: 'throttled' };

/** A guess, and what it is told of: each rejection at its time, with as many others in flight. */
function rig() {
  const concurrency = new OverloadLimit(400, 400, 0);
  const guess = new CapGuess(concurrency);
  const reject = (at: number, others: number, verdict = BARE): boolean => {
    const isCap = guess.isMeant(verdict, at, others);
    if (isCap && !guess.isGivenUp) concurrency.overloaded(at, others + 1, at, others);
    return isCap;
  };
  return { guess, reject, concurrency };
}

describe('what a bare 429 means', () => {
  it('is taken for too many at once, if there were any', () => {
    expect(rig().reject(0, 64)).toBe(true);
    expect(rig().reject(0, 1)).toBe(true);
    expect(rig().reject(0, 0)).toBe(false);
  });

  it.each<[string, Partial<Verdict>]>([
    ['a wait', { retryAfterMs: 0 }],
    ['limits', { limits: [] }],
    ['the limit', { limit: 'requests' }],
  ])('is no question where it names %s', (_what, named) => {
    expect(rig().reject(0, 64, { ...BARE, ...named })).toBe(false);
  });

  it('is late news of what was sent before, which says nothing against it', () => {
    const { guess, reject } = rig();
    reject(100, 64);
    expect(guess.isMeant(BARE, 100, 5)).toBe(true);
    expect(guess.isMeant(BARE, 50, 399)).toBe(true);
    expect(guess.isGivenUp).toBe(false);
  });

  it.each([
    ['as few as may be in flight', 60],
    ['many more', 72],
    ['none', 0],
  ])('is a rate after all where the next comes with %s', (_what, others) => {
    const { guess, reject } = rig();
    reject(0, 64);
    // The last that is not taken for a congestion.
    expect(reject(5_000, others)).toBe(true);
    expect(guess.isGivenUp).toBe(true);
    expect(reject(6_000, 64)).toBe(false);
  });

  it.each([61, 64, 71])('is confirmed where the next comes with as many: %i', (others) => {
    const { guess, reject } = rig();
    reject(0, 64);
    expect(reject(5_000, others)).toBe(true);
    expect(guess.isGivenUp).toBe(false);
  });

  it('is given up, once confirmed, after three in a row that speak against it', () => {
    const { guess, reject } = rig();
    const others = [64, 64, 30, 10, 10, 3, 1, 100];
    const given = others.map((count, n) => {
      reject(n * 5_000, count);
      return guess.isGivenUp;
    });
    expect(given).toEqual([false, false, false, false, false, false, false, true]);
  });

  it('is not given up where a cap falls: what comes within five seconds is one doubt', () => {
    const { guess, reject } = rig();
    reject(0, 64);
    reject(5_000, 64);
    for (const [n, others] of [50, 40, 30, 20, 10].entries()) reject(10_000 + n * 1_000, others);
    expect(guess.isGivenUp).toBe(false);
    reject(15_000, 3);
    expect(guess.isGivenUp).toBe(false);
    reject(20_000, 0);
    expect(guess.isGivenUp).toBe(true);
  });
});
