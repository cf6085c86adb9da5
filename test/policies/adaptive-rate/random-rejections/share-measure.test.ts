import { describe, expect, it } from 'vitest';
import { ShareMeasure } from '../../../../src/policies/adaptive-rate/random-rejections/share-measure.ts';

/** Attempts of which each n-th is rejected. @returns what was measured */
function measured(share: number, every: number): { attempts: number; share: number | undefined } {
  const measure = new ShareMeasure();
  measure.start();
  for (let attempts = 1; ; attempts += 1) {
    const result = measure.settled(attempts % every === 0, share);
    if (!measure.isRunning) return { attempts, share: result };
  }
}

describe('the measure of a share', () => {
  it.each([0.05, 0.1, 0.5])('takes as many attempts as six rejections need: %d', (share) => {
    expect(measured(share, 3).attempts).toBe(Math.ceil(6 / share));
  });

  it('of a small share takes 120 attempts', () => {
    const share = 0.025 + Math.sqrt((0.025 * 0.975) / 120);
    expect(measured(0.04, 40)).toEqual({ attempts: 120, share });
    expect(measured(0.01, 1_000)).toEqual({ attempts: 120, share: 0 });
  });

  it('tells a share that is clearly smaller, and its standard error more', () => {
    const share = 0.05 + Math.sqrt((0.05 * 0.95) / 60);
    expect(measured(0.1, 20)).toEqual({ attempts: 60, share });
    expect(measured(0.1, 1_000)).toEqual({ attempts: 60, share: 0 });
  });

  it('does not tell one that may be smaller by chance, or is greater', () => {
    expect(measured(0.1, 12).share).toBeUndefined();
    expect(measured(0.1, 10).share).toBeUndefined();
    expect(measured(0.1, 2).share).toBeUndefined();
  });
});
