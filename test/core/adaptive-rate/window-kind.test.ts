import { describe, expect, it } from 'vitest';
import { WindowWatch } from '../../../src/core/adaptive-rate/window-kind.ts';
import { bucket, fixed, sliding, type Window } from './windows.ts';

const WINDOW_MS = 60_000;

/** Sends 10/s to a window of 600 a minute, and reports each answer. */
function watch(limit: Window, fromMs: number, seconds: number, windowMs = WINDOW_MS): WindowWatch {
  const found = new WindowWatch();
  for (let now = fromMs; now < fromMs + seconds * 1_000; now += 100) {
    limit.take(now);
    found.report({
      limit: 600,
      used: 600 - limit.left(now),
      resetMs: limit.resetMs(now),
      windowMs,
      at: now,
    });
  }
  return found;
}

describe('the kind of a window', () => {
  it('is not known at first', () => {
    expect(new WindowWatch().kind).toBeUndefined();
  });

  it('is a bucket where little that is used is back in little time', () => {
    expect(watch(bucket(10, 600), 0, 10).kind).toBe('bucket');
  });

  it('is fixed where the end of the window stays', () => {
    expect(watch(fixed(600, WINDOW_MS), 5_000, 3).kind).toBe('fixed');
  });

  it('is sliding where the end moves with time, and is as long as the reset', () => {
    const found = watch(sliding(600, WINDOW_MS), 5_000, 3);
    expect(found.kind).toBe('sliding');
    expect(found.slideMs).toBe(WINDOW_MS);
  });

  it('is not told by reports that are closer than half a second', () => {
    expect(watch(fixed(600, WINDOW_MS), 5_000, 0.4).kind).toBeUndefined();
    expect(watch(fixed(600, WINDOW_MS), 5_000, 0.7).kind).toBe('fixed');
  });

  it('is found anew where it changes', () => {
    const found = new WindowWatch();
    const report = (at: number, used: number, resetMs: number) =>
      found.report({ limit: 600, used, resetMs, windowMs: WINDOW_MS, at });
    report(0, 1, 100);
    expect(found.kind).toBe('bucket');
    // Much more time than a bucket would take: it was none.
    report(1_000, 10, 50_000);
    expect(found.kind).toBeUndefined();
    report(2_000, 20, 49_000);
    expect(found.kind).toBe('fixed');
    // What has changed lately counts, not what was long ago.
    report(8_000, 30, 43_000);
    report(14_000, 40, 43_000);
    expect(found.kind).toBe('sliding');
    // Once it was no bucket, one short reset does not make it one.
    report(15_000, 1, 100);
    expect(found.kind).toBe('sliding');
  });

  it('is compared anew after it looked like a bucket', () => {
    const found = new WindowWatch();
    const report = (at: number, used: number, resetMs: number) =>
      found.report({ limit: 600, used, resetMs, windowMs: WINDOW_MS, at });
    report(0, 10, 50_000);
    report(600, 1, 100);
    expect(found.kind).toBe('bucket');
    report(1_200, 10, 48_800);
    expect(found.kind).toBeUndefined();
    report(1_800, 10, 48_200);
    expect(found.kind).toBe('fixed');
  });

  it('is as long, where it slides, as the longer of two resets', () => {
    const found = new WindowWatch();
    const report = (at: number, resetMs: number) =>
      found.report({ limit: 600, used: 10, resetMs, windowMs: WINDOW_MS, at });
    report(0, 50_000);
    report(1_000, 49_900);
    expect([found.kind, found.slideMs]).toEqual(['sliding', 50_000]);
    report(2_000, 50_100);
    expect(found.slideMs).toBe(50_100);
  });

  it('takes short resets for those of a bucket', () => {
    const found = new WindowWatch();
    found.report({ limit: 600, used: 0, resetMs: 1_999, windowMs: WINDOW_MS, at: 0 });
    expect(found.kind).toBe('bucket');
  });

  it('takes a bucket that is nearly empty for what it may be', () => {
    const found = new WindowWatch();
    // All is used, and back within a window and a half.
    found.report({ limit: 600, used: 600, resetMs: 89_000, windowMs: WINDOW_MS, at: 0 });
    expect(found.kind).toBe('bucket');
    const other = new WindowWatch();
    other.report({ limit: 600, used: 600, resetMs: 91_000, windowMs: WINDOW_MS, at: 0 });
    expect(other.kind).toBeUndefined();
  });
});
