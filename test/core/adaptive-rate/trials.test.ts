import { describe, expect, it } from 'vitest';
import { Trials } from '../../../src/core/adaptive-rate/trials.ts';

describe('trials of a higher rate', () => {
  it('go part of the way to what was sent last, and not far above what was measured', () => {
    expect(new Trials().next(10, 12)).toBeCloseTo(10.9, 12);
    expect(new Trials().next(10, 1_000)).toBeCloseTo(11.35, 12);
  });

  it('do not begin where nothing higher was sent', () => {
    const trials = new Trials();
    expect(trials.next(10, 10.1)).toBeUndefined();
    expect(trials.isRunning).toBe(false);
    expect(trials.next(10, 12)).toBeDefined();
    expect(trials.isRunning).toBe(true);
    expect(trials.from).toBe(10);
  });

  /** Congestions until the next trial begins, itself included. */
  function untilNext(trials: Trials): number {
    for (let n = 1; n <= 100; n += 1) if (trials.next(10, 12) !== undefined) return n;
    return Number.POSITIVE_INFINITY;
  }

  it('become rarer as long as they find nothing, and are at most 32 apart', () => {
    const trials = new Trials();
    const gaps: number[] = [];
    for (let n = 0; n < 8; n += 1) {
      gaps.push(untilNext(trials));
      trials.end(10.1);
    }
    expect(gaps).toEqual([1, 2, 4, 8, 16, 32, 32, 32]);
  });

  it('come at once again after one that has found more', () => {
    const trials = new Trials();
    untilNext(trials);
    trials.end(10);
    untilNext(trials);
    trials.end(10.2);
    expect(trials.isRunning).toBe(false);
    expect(untilNext(trials)).toBe(1);
  });

  it('show that a limit forgets what is not used, until one finds less', () => {
    const trials = new Trials();
    expect(trials.isForgetful).toBe(false);
    trials.next(10, 12);
    trials.end(10.2);
    expect(trials.isForgetful).toBe(true);
    trials.next(10, 12);
    trials.end(10.1);
    expect(trials.isForgetful).toBe(true);
    untilNext(trials);
    trials.end(9.9);
    expect(trials.isForgetful).toBe(false);
  });

  it('measure nothing where none runs', () => {
    const trials = new Trials();
    trials.end(100);
    expect(trials.isForgetful).toBe(false);
    expect(untilNext(trials)).toBe(1);
  });
});
