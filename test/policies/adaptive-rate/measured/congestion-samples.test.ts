import { describe, expect, it } from 'vitest';
import { CongestionSamples } from '../../../../src/policies/adaptive-rate/measured/congestion-samples.ts';

const PACE = 0.02;

/** Marks of a provider that was kept full: so many were accepted in so many ms, again and again. */
function marksOf(...rows: [accepted: number, ms: number, isFull?: boolean][]): CongestionSamples {
  const marks = new CongestionSamples(0, 0);
  let at = 0;
  for (const [accepted, ms, isFull = true] of rows) {
    at += ms;
    marks.add({ accepted, from: at, to: at, isFull, pacePerMs: PACE });
  }
  return marks;
}

describe('marks of congestion', () => {
  it('tell nothing before there are two of them', () => {
    expect(marksOf().bounds()).toBeUndefined();
  });

  it('bound the rate to one attempt at each end', () => {
    const bounds = marksOf([100, 10_000]).bounds();
    expect(bounds?.best).toBeCloseTo(0.01, 9);
    expect(bounds?.least).toBeCloseTo(99 / 10_000, 9);
    expect(bounds?.most).toBeCloseTo(101 / 10_000, 9);
    expect(bounds?.evidence).toBe(100);
  });

  it('of a limit that has changed bound the changed rate', () => {
    const rows: [number, number, boolean][] = [
      [100, 10_000, true],
      [90, 10_000, false],
    ];
    const marks = marksOf(...rows);
    const before = marks.bounds();
    marks.scale(2.5);
    const after = marks.bounds();
    expect(after?.best).toBeCloseTo(2.5 * (before?.best ?? 0), 3);
    // The pace of the last rejection bounds a provider that was not kept full.
    expect([before?.most, after?.most]).toEqual([PACE, 2.5 * PACE]);
    expect(after?.evidence).toBe(225);
    expect(after?.hasChanged).toBe(false);
  });

  it('within a fraction of a millisecond claim no rate of thousands', () => {
    const marks = new CongestionSamples(0, 0.02);
    marks.add({ accepted: 1, from: 0.021, to: 0.05, isFull: true, pacePerMs: PACE });
    const bounds = marks.bounds();
    // 0.3 of a request in the longest time that may be meant, 0.05 ms.
    expect(bounds?.least).toBeCloseTo(0.3 / 0.05, 9);
    expect(bounds?.most).toBeLessThanOrEqual(1_000 * (bounds?.least ?? 0));
    const close = new CongestionSamples(0, 5);
    close.add({ accepted: 1, from: 5, to: 10, isFull: true, pacePerMs: PACE });
    expect(close.bounds()?.least).toBeCloseTo(0.03, 9);
  });

  it('are the surer the longer they agree', () => {
    const rows = Array.from({ length: 10 }, (): [number, number] => [100, 10_000]);
    const bounds = marksOf(...rows).bounds();
    expect(bounds?.evidence).toBe(1_000);
    expect(bounds?.least).toBeCloseTo(999 / 100_000, 9);
    expect(bounds?.most).toBeCloseTo(1_001 / 100_000, 9);
  });

  it('measure windows, that let everything in at once, by their ends', () => {
    const marks = new CongestionSamples(0, 1_000);
    for (let n = 1; n <= 5; n += 1) {
      marks.add({
        accepted: 60,
        from: n * 60_000,
        to: n * 60_000 + 1_000,
        isFull: true,
        pacePerMs: PACE,
      });
    }
    const bounds = marks.bounds();
    expect(bounds?.best).toBeCloseTo(0.001, 6);
    expect(bounds?.evidence).toBe(300);
  });

  it.each([0.5, 2])(
    'leave those out that are from before the rate was %s times as high',
    (factor) => {
      const before: [number, number][] = [
        [100, 10_000],
        [100, 10_000],
        [100, 10_000],
      ];
      const bounds = marksOf(...before, [100 * factor, 10_000]).bounds();
      expect(bounds?.best).toBeCloseTo(0.01 * factor, 9);
      expect(bounds?.evidence).toBe(100 * factor);
      expect(bounds?.hasChanged).toBe(true);
      expect(marksOf(...before).bounds()?.hasChanged).toBe(false);
    },
  );

  it('follow a rate that drifts', () => {
    const rows = Array.from({ length: 20 }, (_, n): [number, number] => [100 * 1.05 ** n, 10_000]);
    const last = 0.01 * 1.05 ** 19;
    const best = marksOf(...rows).bounds()?.best ?? 0;
    expect(best / last).toBeGreaterThan(0.9);
    expect(best / last).toBeLessThan(1.01);
  });

  it('bound the rate by the pace alone where less was sent than is let in', () => {
    const bounds = marksOf([10, 10_000, false]).bounds();
    expect(bounds?.least).toBeCloseTo(9 / 10_000, 9);
    expect(bounds?.most).toBe(PACE);
  });

  it('never say that nothing is let in', () => {
    const bounds = marksOf([0, 10_000]).bounds();
    expect(bounds?.least).toBeGreaterThan(0);
    expect(bounds?.best).toBeGreaterThan(0);
  });

  it('may last longer than was thought', () => {
    const marks = marksOf([100, 10_000]);
    marks.prolong(10, 11_000, 11_000);
    expect(marks.bounds()?.best).toBeCloseTo(110 / 11_000, 9);
  });

  it('may begin anew', () => {
    const marks = marksOf([100, 10_000]);
    expect(marks.hasRow).toBe(true);
    marks.restart(20_000, 20_000);
    expect(marks.hasRow).toBe(false);
    expect(marks.bounds()).toBeUndefined();
  });
});
