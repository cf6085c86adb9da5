import { describe, expect, it } from 'vitest';
import { Dimension } from '../../../src/core/adaptive-rate/dimension.ts';
import type { ReportedLimit } from '../../../src/model/feedback.ts';
import { NO_LIMIT } from './control-rig.ts';
import { FLOOR_PER_MS } from './learned-player.ts';

/** A thing that is counted, with a hard limit (per ms) that may change. */
function dimensionOf(hardPerMs = NO_LIMIT, startPerMs = NO_LIMIT) {
  const hard = { perMs: hardPerMs };
  const past = { sent: 0, since: 0 };
  const dimension = new Dimension(startPerMs, NO_LIMIT, FLOOR_PER_MS, past, () => hard.perMs);
  return { dimension, hard };
}

const TOLD: ReportedLimit = { unit: 'tokens', limit: 10_000, remaining: 5_051, windowMs: 10_000 };

describe('one thing that is counted', () => {
  it('charges what an attempt has really cost, if it was sent at a rate', () => {
    const { dimension, hard } = dimensionOf();
    dimension.wait(0);
    const unpaced = dimension.take(100, 0);
    expect(unpaced.isPaced).toBe(false);
    hard.perMs = 1;
    expect(dimension.wait(0)).toBe(0);
    dimension.settle(unpaced, 1_000);
    expect(dimension.wait(0)).toBe(0);
    const paced = dimension.take(100, 0);
    dimension.settle(paced, 1_000);
    expect(dimension.wait(0)).toBeCloseTo(1_000 / 0.998, 9);
    dimension.settle(dimension.take(100, 0), 0);
    expect(dimension.wait(0)).toBeCloseTo(1_000 / 0.998, 9);
  });

  it('gives back the cost of what was never sent, and not of what was turned away', () => {
    const { dimension } = dimensionOf(1);
    dimension.wait(0);
    const sent = dimension.take(100, 0);
    const unsent = dimension.take(100, 0);
    dimension.lost(unsent, true);
    expect(dimension.wait(0)).toBeCloseTo(100 / 0.998, 9);
    dimension.lost(sent, false);
    expect(dimension.wait(0)).toBeCloseTo(100 / 0.998, 9);
    expect(dimension.acceptedBefore(dimension.take(100, 0))).toBe(0);
  });

  it('takes what was lost since, or has cost more, for what is left of a told limit', () => {
    // 50 are to be spared: 5001 may be used before it slows down.
    const rateAfter = (act: (dimension: Dimension) => void) => {
      const { dimension } = dimensionOf();
      const first = dimension.take(0, 0);
      dimension.reported(TOLD, first, true, 0);
      act(dimension);
      dimension.wait(0);
      return dimension.ratePerMs;
    };
    const slower = (left: number) => left / 50;
    expect(rateAfter((dimension) => dimension.take(5_021, 0))).toBeCloseTo(slower(30), 9);
    expect(
      rateAfter((dimension) => {
        dimension.take(5_011, 0);
        dimension.settle(dimension.take(0, 0), 10);
      }),
    ).toBeCloseTo(slower(30), 9);
    expect(
      rateAfter((dimension) => {
        dimension.take(5_021, 0);
        dimension.lost(dimension.take(1_000, 0), false);
      }),
    ).toBeCloseTo(slower(30), 9);
  });

  it('does not count what was lost before a report as used by then', () => {
    const { dimension } = dimensionOf();
    dimension.lost(dimension.take(1_000, 0), false);
    dimension.reported(TOLD, dimension.take(0, 0), true, 0);
    dimension.take(5_021, 0);
    dimension.wait(0);
    expect(dimension.ratePerMs).toBeCloseTo(30 / 50, 9);
  });

  it('corrects what had been sent by a report', () => {
    const { dimension } = dimensionOf();
    const early = dimension.take(100, 0);
    dimension.reported(TOLD, dimension.take(0, 0), true, 0);
    dimension.settle(early, 1_100);
    dimension.take(5_021, 0);
    dimension.wait(0);
    expect(dimension.ratePerMs).toBeCloseTo(30 / 50, 9);
  });

  it('measures what was accepted, at what it has really cost', () => {
    const { dimension } = dimensionOf();
    const costs = [100, 200, 300].map((cost) => dimension.take(cost, 0));
    dimension.rejected(dimension.take(50, 10_000), 10_000, 5_000);
    expect(dimension.ceilingPerMs).toBeCloseTo(600 / 15_000, 12);
    const [first] = costs;
    if (first !== undefined) dimension.settle(first, 1_100);
    for (let n = 0; n < 10; n += 1) dimension.take(100, 16_000 + n);
    const last = dimension.take(0, 25_000);
    // What the first has cost more lies before both.
    dimension.rejected(last, 25_000, 0);
    expect(dimension.ceilingPerMs).toBeCloseTo(1_050 / 10_000, 3);
  });

  it('goes on from a rate that was told or configured, where that ends', () => {
    const { dimension, hard } = dimensionOf(2, 1);
    dimension.wait(0);
    expect(dimension.origin).toBe('limit');
    hard.perMs = NO_LIMIT;
    dimension.wait(0);
    expect([dimension.origin, dimension.ratePerMs]).toEqual(['start', 2 * 0.998]);
    const told = dimensionOf(NO_LIMIT, 0.5).dimension;
    told.reported(TOLD, told.take(0, 0), true, 0);
    told.wait(0);
    expect([told.origin, told.ratePerMs]).toEqual(['headers', 0.998]);
    told.wait(15_001);
    expect([told.origin, told.ratePerMs]).toEqual(['start', 0.998]);
  });

  it('counts as bound by nothing while it has no rate', () => {
    const { dimension } = dimensionOf();
    dimension.wait(0);
    expect([dimension.origin, dimension.ratePerMs]).toEqual(['start', NO_LIMIT]);
    dimension.pause(1_000, 0);
    expect(dimension.wait(0)).toBe(0);
  });

  it('pauses for two intervals of the rate in force now, and no longer than it is told', () => {
    const { dimension, hard } = dimensionOf(1);
    dimension.wait(0);
    hard.perMs = 1 / 100;
    dimension.pause(1_000, 0);
    expect(dimension.wait(0)).toBeCloseTo(200 / 0.998, 9);
    hard.perMs = 1 / 10_000;
    dimension.pause(1_000, 0);
    expect(dimension.wait(0)).toBeGreaterThanOrEqual(1_000);
  });
});
