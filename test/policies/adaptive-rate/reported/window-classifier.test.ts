import { describe, expect, it } from 'vitest';
import {
  type Replenishment,
  WindowClassifier,
} from '../../../../src/policies/adaptive-rate/reported/window-classifier.ts';
import { bucket, fixed, sliding, type Window } from '../windows.ts';

interface Watching {
  readonly seconds: number;
  readonly stepMs: number;
  /** To what times of reset are rounded up. Default 1 ms. */
  readonly roundMs?: number;
  /** The time to the next attempt after a rejection. Default `stepMs`. */
  readonly probeMs?: number;
  /** How long answers take; rejections come at once. Default 0. */
  readonly answerMs?: number;
}

/** Sends to a limit, and reports each answer. */
function watch(limit: Window, size: number, watching: Watching) {
  const { seconds, stepMs, roundMs = 1, probeMs = stepMs, answerMs = 0 } = watching;
  const reports: { readonly now: number; readonly report: Replenishment }[] = [];
  let roundedMs = 1_000;
  let isAccepted = true;
  for (let now = 130; now < seconds * 1_000; now += isAccepted ? stepMs : probeMs) {
    isAccepted = limit.take(now);
    const resetMs = Math.ceil(limit.resetMs(now) / roundMs) * roundMs;
    if (resetMs % 1_000 !== 0) roundedMs = 5;
    const used = size - Math.floor(limit.left(now));
    const sent = { at: now, order: reports.length, isAccepted };
    const report = { ...sent, used, resetMs, limit: size, roundedMs, windowMs: 60_000 };
    reports.push({ now: now + (isAccepted ? answerMs : 0), report });
  }
  const found = new WindowClassifier();
  for (const { report } of reports.sort((a, b) => a.now - b.now)) found.report(report);
  return found;
}

const ANSWER = { isAccepted: true, order: 0, roundedMs: 5 } as const;

const WINDOWS_MS = [1_000, 5_000, 10_000, 60_000];

describe('a window, as its reports show it', () => {
  it.each(WINDOWS_MS)('is fixed, and as long as that: %i ms', (windowMs) => {
    const size = windowMs / 100;
    const found = watch(fixed(size, windowMs), size, { seconds: 130, stepMs: 119 });
    expect(found.kind).toBe('fixed');
    expect(found.lengthMs).toBeGreaterThan(0.95 * windowMs);
    expect(found.lengthMs).toBeLessThanOrEqual(windowMs);
  });

  it.each([1_250, ...WINDOWS_MS.slice(1)])('is sliding, and as long as that: %i ms', (windowMs) => {
    const size = windowMs / 100;
    const found = watch(sliding(size, windowMs), size, { seconds: 130, stepMs: 119 });
    expect(found.kind).toBe('sliding');
    expect(found.lengthMs).toBeCloseTo(windowMs, -1);
  });

  it('is sliding, though rejections of later attempts come before the answers', () => {
    const limit = sliding(50, 10_000);
    const found = watch(limit, 50, { seconds: 130, stepMs: 190, answerMs: 30_000 });
    expect([found.kind, found.lengthMs]).toEqual(['sliding', 10_000]);
  });

  it.each([10, 100, 600])('is a bucket, of %i', (size) => {
    const found = watch(bucket(10, size), size, { seconds: 60, stepMs: 83 });
    expect(found.kind).toBe('bucket');
  });

  it.each<[string, Window]>([
    ['fixed', fixed(600, 60_000)],
    ['sliding', sliding(600, 60_000)],
  ])('is %s, by times that are rounded to seconds', (kind, limit) => {
    const found = watch(limit, 600, { seconds: 130, stepMs: 119, roundMs: 1_000 });
    expect([found.kind, found.lengthMs]).toEqual([kind, 60_000]);
  });

  it('is not taken for another than a bucket, by times that are rounded to seconds', () => {
    const found = watch(bucket(10, 600), 600, { seconds: 130, stepMs: 83, roundMs: 1_000 });
    expect(['bucket', undefined]).toContain(found.kind);
  });

  it('is not taken for a fixed one while a sliding one rejects everything', () => {
    const watching = { seconds: 55, stepMs: 326, probeMs: 1_000 };
    expect(watch(sliding(100, 60_000), 100, watching).kind).not.toBe('fixed');
  });

  it('is fixed where its end stays while its usage falls, as that of a sliding counter', () => {
    const found = new WindowClassifier();
    for (let at = 1_000; at < 50_000; at += 500) {
      const used = 600 - Math.floor(at / 1_000);
      const resetMs = 60_000 - at;
      found.report({ ...ANSWER, limit: 600, used, resetMs, windowMs: 60_000, at });
    }
    expect(found.kind).toBe('fixed');
  });

  it('is not judged by four reports, nor by such as lie far apart', () => {
    const found = new WindowClassifier();
    const report = (at: number, used: number, resetMs: number) =>
      found.report({ ...ANSWER, limit: 10, used, resetMs, windowMs: 1_000, at });
    report(100, 1, 901);
    report(300, 3, 701);
    report(400, 4, 601);
    report(500, 5, 501);
    expect(found.kind).toBeUndefined();
    for (let at = 10_100; at < 100_000; at += 6_000) report(at, 1, 901);
    expect(found.kind).toBeUndefined();
  });

  it('is found anew where it has changed', () => {
    const found = new WindowClassifier();
    const changing = fixed(10, 1_000);
    const later = sliding(10, 1_000);
    const kinds: unknown[] = [];
    for (let now = 130; now < 20_000; now += 119) {
      const limit = now < 10_000 ? changing : later;
      limit.take(now);
      const used = 10 - limit.left(now);
      const resetMs = limit.resetMs(now);
      found.report({ ...ANSWER, limit: 10, used, resetMs, windowMs: 1_000, at: now });
      if (found.kind !== kinds.at(-1)) kinds.push(found.kind);
    }
    expect(kinds).toEqual(['fixed', 'sliding']);
  });

  it('may be a bucket as long as no reset is longer than that of one', () => {
    const found = new WindowClassifier();
    const report = (used: number, resetMs: number) =>
      found.report({ ...ANSWER, limit: 600, used, resetMs, windowMs: 60_000, at: 0 });
    report(10, 1_500);
    expect(found.kind).toBe('bucket');
    report(10, 1_506);
    expect(found.kind).toBeUndefined();
    report(10, 1_000);
    expect(found.kind).toBeUndefined();
  });

  it('is no bucket if its reset stays while the usage grows', () => {
    const found = new WindowClassifier();
    const report = (used: number, resetMs: number) =>
      found.report({
        ...ANSWER,
        limit: 50,
        used,
        resetMs,
        roundedMs: 1_500,
        windowMs: 60_000,
        at: 0,
      });
    report(17, 5_000);
    // A bucket would need at least 3,500 / 18 ms for each: 32 of them are within the rounding.
    report(33, 5_000);
    expect(found.kind).toBe('bucket');
    report(36, 5_000);
    expect(found.kind).toBeUndefined();
  });

  it('may be a bucket that holds less than its window, whatever its usage', () => {
    const found = new WindowClassifier();
    const report = (used: number, resetMs: number) =>
      found.report({ ...ANSWER, limit: 600, used, resetMs, windowMs: 60_000, at: 0 });
    // It holds 100, and gets back 10 a second.
    report(590, 9_000);
    report(501, 100);
    report(600, 10_000);
    expect(found.kind).toBe('bucket');
  });

  it('is a bucket that holds less than its window allows', () => {
    const found = watch(bucket(10, 100), 600, { seconds: 60, stepMs: 83 });
    expect(found.kind).toBe('bucket');
  });

  it('is such a bucket for good once its resets have grown with its usage', () => {
    // The reports miss 500 of 600 from the start, so that a reset is in no proportion to the usage.
    const found = watch(bucket(10, 100), 600, { seconds: 1, stepMs: 10 });
    const odd = { used: 580, resetMs: 100_000, at: 1_050 };
    found.report({ ...ANSWER, limit: 600, windowMs: 60_000, ...odd });
    expect(found.kind).toBe('bucket');
  });

  it('is never without length, so that there is a rate', () => {
    const found = new WindowClassifier();
    for (let at = 0; at < 20_000; at += 500) {
      found.report({ ...ANSWER, limit: 10, used: 5, resetMs: 0, windowMs: 60_000, at });
    }
    expect(found.lengthMs).toBe(1);
  });
});
