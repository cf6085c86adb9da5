import { describe, expect, it } from 'vitest';
import { RepeatedOverrun } from '../../../../src/policies/adaptive-rate/measured/repeated-overrun.ts';

const PER_MS = 0.1;
const NONE = Number.POSITIVE_INFINITY;

/** A cycle at the mean rate: its pace at the end, and the rate measured before, as multiples. */
type Played = [accepted: number, pace: number, measured?: number];

function playing(...cycles: Played[]): RepeatedOverrun {
  const overrun = new RepeatedOverrun();
  for (const [accepted, pace, measured = 0.7] of cycles) {
    overrun.cycled(accepted, accepted / PER_MS, pace * PER_MS, measured * PER_MS);
  }
  return overrun;
}

describe('a window that is overrun repeatedly', () => {
  it('bounds the pace near the mean rate, until more is verified than the window admits', () => {
    const overrun = playing([200, 3], [200, 3]);
    expect(overrun.most(0)).toBeCloseTo(1.1 * PER_MS, 12);
    expect(overrun.most(200)).toBeCloseTo(1.1 * PER_MS, 12);
    expect(overrun.most(201)).toBe(NONE);
    expect(overrun.exceeds(0.99 * PER_MS)).toBe(true);
    expect(overrun.exceeds(1.01 * PER_MS)).toBe(false);
  });

  it('may have rejected more in between, and needs an overrun within four windows', () => {
    const few: Played = [4, 0.5];
    // The lowest of the rates that were measured meanwhile counts.
    expect(playing([200, 3], few, [200, 3, 0.9]).most(0)).toBeCloseTo(1.1 * PER_MS, 12);
    expect(playing([200, 3], few, [200, 3], few, few).most(0)).toBeCloseTo(1.1 * PER_MS, 12);
    // An overrun soon after another one belongs to it.
    expect(playing([200, 3], [200, 3], [40, 3], [200, 3]).most(0)).toBeCloseTo(1.1 * PER_MS, 12);
    const windows = (count: number) => playing([200, 3], [200, 3], [200 * count, 1]).most(0);
    expect(windows(3.9)).toBeLessThan(NONE);
    expect(windows(4.1)).toBe(NONE);
  });

  it.each<[string, Played[]]>([
    ['once', [[200, 3]]],
    [
      'at a pace near the mean',
      [
        [200, 1.4],
        [200, 1.4],
      ],
    ],
    [
      'at no pace',
      [
        [200, NONE],
        [200, NONE],
      ],
    ],
    [
      'with more each time',
      [
        [200, 3],
        [270, 3],
      ],
    ],
    [
      'with less each time',
      [
        [270, 3],
        [200, 3],
      ],
    ],
    [
      'and accepts evenly',
      [
        [200, 3],
        [200, 3, 0.9],
      ],
    ],
    [
      'with a few requests',
      [
        [90, 3],
        [90, 3],
      ],
    ],
  ])('is none that was overrun %s', (_, cycles) => {
    const overrun = playing(...cycles);
    expect(overrun.most(0)).toBe(NONE);
    expect(overrun.exceeds(0)).toBe(false);
  });

  it('changes with the limit', () => {
    const overrun = playing([200, 3], [200, 3]);
    overrun.scale(0.5);
    expect(overrun.most(100)).toBeCloseTo(0.55 * PER_MS, 12);
    expect(overrun.most(101)).toBe(NONE);
    // What was accepted before the change counts as half, and so does what was measured.
    const half = playing([400, 3], [200, 0, 1.2]);
    half.scale(0.5);
    half.cycled(100, 0, 4 * PER_MS, PER_MS);
    expect(half.most(0)).toBeCloseTo(1.1 * PER_MS, 12);
  });
});
