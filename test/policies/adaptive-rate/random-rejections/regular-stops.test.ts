import { describe, expect, it } from 'vitest';
import { RegularStops } from '../../../../src/policies/adaptive-rate/random-rejections/regular-stops.ts';
import { seededRandom } from '../../../../src/simulator/index.ts';

/** @returns at which stops the rejections are regular, after these numbers of accepted attempts */
function regular(counts: readonly number[]): number[] {
  const stops = new RegularStops();
  return counts.flatMap((accepted, index) => {
    for (let n = 0; n < accepted; n += 1) stops.settled(false);
    stops.settled(true);
    return stops.stopped() ? [index] : [];
  });
}

describe('rejections', () => {
  it('are regular after eight alike numbers, and again after eight more', () => {
    expect(regular(Array(16).fill(20))).toEqual([7, 15]);
    expect(regular([20, 21, 22, 20, 21, 22, 20, 22])).toEqual([7]);
  });

  it('are not regular where the numbers differ by 15 %, slowly too', () => {
    expect(regular([20, 21, 22, 20, 21, 22, 20, 23])).toEqual([]);
    expect(regular([20, 20, 20, 21, 21, 22, 22, 23, 23, 23])).toEqual([]);
    expect(regular([23, 23, 23, 22, 22, 21, 21, 20, 20, 20])).toEqual([]);
  });

  it('begin anew with a number that differs', () => {
    expect(regular([20, 20, 20, 20, 20, 20, 20, 5, ...Array(8).fill(20)])).toEqual([15]);
  });

  it('are not regular where few are accepted', () => {
    expect(regular(Array(20).fill(3))).toEqual([]);
    expect(regular(Array(8).fill(4))).toEqual([7]);
  });

  it('are never regular by chance', () => {
    const random = seededRandom(4_711);
    const counts = Array.from({ length: 100_000 }, () =>
      Math.floor(Math.log(random()) / Math.log(0.95)),
    );
    expect(regular(counts)).toEqual([]);
  });
});
