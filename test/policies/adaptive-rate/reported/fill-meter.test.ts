import { describe, expect, it } from 'vitest';
import { FillMeter } from '../../../../src/policies/adaptive-rate/reported/fill-meter.ts';
import { bucket } from '../windows.ts';

const SIZE = 1_000;

/** Sends to a bucket at an even rate, and reports what is left after each. */
function measured(perSecond: number, sentPerSecond: number): number | undefined {
  const meter = new FillMeter();
  const limit = bucket(perSecond, SIZE);
  meter.report({ at: 0, order: 0, left: SIZE, total: 0 });
  // Not all of it is left, so that nothing overflows.
  limit.take(0, SIZE / 2);
  for (let order = 1; order <= 100; order += 1) {
    const at = (order * 1_000) / sentPerSecond;
    limit.take(at);
    meter.report({ at, order, left: limit.left(at), total: SIZE / 2 + order });
  }
  return meter.perMs;
}

describe('a fill meter', () => {
  it.each([
    [20, 30],
    [20, 20],
    [20, 10],
    [3, 40],
  ])('finds how fast a bucket fills at %d/s when %d/s are sent', (perSecond, sent) => {
    expect(measured(perSecond, sent)).toBeCloseTo(perSecond / 1_000, 9);
  });

  it('does not know before ten attempts and a quarter of a second', () => {
    const meter = new FillMeter();
    meter.report({ at: 0, order: 0, left: 500, total: 0 });
    meter.report({ at: 400, order: 9, left: 400, total: 105 });
    expect(meter.perMs).toBeUndefined();
    meter.report({ at: 500, order: 10, left: 400, total: 109 });
    expect(meter.perMs).toBe(9 / 500);
    const fast = new FillMeter();
    fast.report({ at: 0, order: 0, left: 500, total: 0 });
    fast.report({ at: 249, order: 100, left: 400, total: 100 });
    expect(fast.perMs).toBeUndefined();
  });

  it('does not count what a full bucket lost', () => {
    const meter = new FillMeter();
    meter.report({ at: 0, order: 0, left: 50, total: 0 });
    // Full by now, for nobody knows how long.
    meter.report({ at: 10_000, order: 50, left: 100, total: 50 });
    expect(meter.perMs).toBeUndefined();
    meter.report({ at: 11_000, order: 70, left: 90, total: 70 });
    expect(meter.perMs).toBe(10 / 1_000);
    expect(meter.highest).toBe(100);
  });

  it('learns the least rate of a bucket that is always full again', () => {
    const meter = new FillMeter();
    meter.report({ at: 0, order: 0, left: 50, total: 0 });
    meter.report({ at: 1_000, order: 10, left: 45, total: 10 });
    expect(meter.perMs).toBe(5 / 1_000);
    for (let n = 1; n <= 100; n += 1) {
      meter.report({ at: 1_000 + n * 100, order: 10 + n * 2, left: 50, total: 10 + n * 2 });
    }
    // All that was sent has come back, and maybe more.
    expect(meter.perMs).toBe(20.5 / 1_000);
    meter.report({ at: 12_000, order: 230, left: 40, total: 230 });
    expect(meter.perMs).toBe(10 / 1_000);
  });

  it('measures over the last ten seconds', () => {
    const meter = new FillMeter();
    let order = 0;
    let left = 500;
    const run = (untilMs: number, filled: number) => {
      for (let at = run.at; at < untilMs; at += 100) {
        left += filled - 1;
        order += 1;
        meter.report({ at, order, left, total: order });
      }
      run.at = untilMs;
    };
    run.at = 0;
    run(20_000, 0);
    expect(meter.perMs).toBeCloseTo(0, 12);
    run(30_200, 0.5);
    expect(meter.perMs).toBeCloseTo(0.5 / 100, 6);
  });

  it('takes no notice of reports that are closer than 50 ms, but of what they have left', () => {
    const meter = new FillMeter();
    meter.report({ at: 0, order: 0, left: 100, total: 0 });
    meter.report({ at: 49, order: 5, left: 200, total: 5 });
    expect(meter.highest).toBe(200);
    meter.report({ at: 500, order: 20, left: 100, total: 20 });
    expect(meter.perMs).toBe(20 / 500);
  });

  it('learns of what attempts have really cost', () => {
    const meter = new FillMeter();
    meter.report({ at: 0, order: 0, left: 500, total: 0 });
    meter.report({ at: 1_000, order: 10, left: 400, total: 100 });
    meter.corrected(5, 50);
    meter.corrected(20, 1_000);
    meter.report({ at: 2_000, order: 20, left: 300, total: 250 });
    // The first was not corrected, the second was.
    expect(meter.perMs).toBe((300 - 500 + 250) / 2_000);
  });

  it('never measures less than nothing', () => {
    const meter = new FillMeter();
    meter.report({ at: 0, order: 0, left: 500, total: 0 });
    meter.report({ at: 1_000, order: 10, left: 100, total: 10 });
    expect(meter.perMs).toBe(0);
  });

  it('begins anew where the limit changes, with what it knows in proportion', () => {
    const meter = new FillMeter();
    meter.report({ at: 0, order: 0, left: 500, total: 0 });
    meter.report({ at: 1_000, order: 10, left: 400, total: 109 });
    meter.scale(2);
    expect(meter.perMs).toBe((2 * 9) / 1_000);
    expect(meter.highest).toBe(1_000);
    meter.report({ at: 1_500, order: 20, left: 100, total: 20 });
    expect(meter.perMs).toBe((2 * 9) / 1_000);
  });
});
