import { describe, expect, it } from 'vitest';
import { ShareTest } from '../../../../src/policies/adaptive-rate/random-rejections/share-test.ts';
import { seededRandom } from '../../../../src/simulator/index.ts';

/** @returns after how many attempts the test says that more are rejected; at most `most` */
function noticed(expected: number, real: number, seed: number, most: number): number {
  const test = new ShareTest(5);
  const random = seededRandom(seed);
  for (let n = 1; n <= most; n += 1) {
    test.settled(random() < real, expected);
    if (test.isMore) return n;
  }
  return most;
}

const mean = (values: readonly number[]) => values.reduce((a, b) => a + b, 0) / values.length;
const seeds = Array.from({ length: 40 }, (_, seed) => seed + 1);

describe('the test of a share', () => {
  it.each([
    [0.01, 0.11, 60],
    [0.03, 0.13, 90],
    [0.1, 0.25, 90],
    [0.3, 0.6, 60],
  ])('notices that not %d but %d are rejected, after %i attempts on average', (share, real, n) => {
    expect(mean(seeds.map((seed) => noticed(share, real, seed, 10_000)))).toBeLessThan(n);
  });

  it.each([0.01, 0.03, 0.1, 0.3, 0.5])('takes long to be wrong: %d', (share) => {
    const after = seeds.map((seed) => noticed(share, share, seed, 5_000));
    expect(mean(after)).toBeGreaterThan(600);
  });

  it('notices many rejections in a row, however great the share', () => {
    const test = new ShareTest(5);
    for (let n = 0; n < 14; n += 1) test.settled(true, 0.5);
    expect(test.isMore).toBe(true);
  });

  it.each([
    [0.02, 0.002],
    [0.2, 0.05],
    [0.5, 0.1],
  ])('tells the smaller share: not %d but %d', (share, real) => {
    const test = new ShareTest(5);
    const random = seededRandom(7);
    let attempts = 0;
    while (test.fewer === undefined && attempts < 5_000) {
      test.settled(random() < real, share);
      attempts += 1;
    }
    expect(attempts).toBeLessThan(20 / share);
    expect(test.fewer).toBeLessThan(share / 2);
  });
});
