import { describe, expect, it } from 'vitest';
import { FirstRate } from '../../../../src/policies/adaptive-rate/measured/first-rate.ts';

describe('the rate until the first rejection', () => {
  it('is the mean where what is sent comes at once, and the provider was closed since', () => {
    const rate = new FirstRate();
    for (let n = 1; n <= 60; n += 1) rate.add(n, 0);
    expect(rate.perMs(60, 0, 6_000)).toBeCloseTo(0.01, 9);
  });

  it('is that of the later half where ever more was sent', () => {
    const rate = new FirstRate();
    let accepted = 0;
    // 16, 32, 64, 128 and 256 in rounds of a second.
    for (let round = 0; round < 5; round += 1) {
      for (let n = 0; n < 16 * 2 ** round; n += 1)
        rate.add(++accepted, 1_000 * (round + n / (16 * 2 ** round)));
    }
    const perMs = rate.perMs(accepted, 0, 5_000);
    expect(perMs).toBeGreaterThan(0.2);
    expect(perMs).toBeLessThan(0.26);
  });

  it('is the mean where nothing was counted', () => {
    const rate = new FirstRate();
    rate.add(1, 0);
    rate.add(2, 900);
    rate.clear();
    expect(rate.perMs(2, 0, 1_000)).toBeCloseTo(0.002, 9);
  });
});
