import { describe, expect, it } from 'vitest';
import { logNormal, seededRandom } from '../../src/simulator/random.ts';

const take = (random: () => number, count: number) => Array.from({ length: count }, () => random());

describe('seededRandom', () => {
  it('depends on the seed alone, all 53 bits of it', () => {
    expect(take(seededRandom(7), 5)).toEqual(take(seededRandom(7), 5));
    const firsts = [0, 1, 2, 2 ** 32, 2 ** 32 + 1, 2 ** 52].map((seed) => seededRandom(seed)());
    expect(new Set(firsts).size).toBe(firsts.length);
  });

  it('is even in [0, 1)', () => {
    const bins = new Array<number>(10).fill(0);
    const values = take(seededRandom(1), 100_000);
    expect(values.filter((value) => !(value >= 0 && value < 1))).toEqual([]);
    for (const value of values) {
      const bin = Math.floor(value * 10);
      bins[bin] = (bins[bin] ?? 0) + 1;
    }
    for (const count of bins) expect(Math.abs(count - 10_000)).toBeLessThan(400);
  });

  it('refuses a seed that is no integer', () => {
    expect(() => seededRandom(1.5)).toThrow('`seed` must be an integer >= 0, got 1.5');
  });
});

describe('logNormal', () => {
  it('has the mean and the sigma it was given', () => {
    const random = seededRandom(3);
    const draw = logNormal({ meanMs: 3400, sigma: 0.5 });
    const values = Array.from({ length: 200_000 }, () => draw(random));
    const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
    expect(Math.abs(mean / 3400 - 1)).toBeLessThan(0.01);
    const logs = values.map(Math.log);
    const logMean = logs.reduce((sum, value) => sum + value, 0) / logs.length;
    const variance = logs.reduce((sum, value) => sum + (value - logMean) ** 2, 0) / logs.length;
    expect(Math.sqrt(variance)).toBeCloseTo(0.5, 2);
  });

  it('is constant without sigma, and refuses wrong values', () => {
    expect(logNormal({ meanMs: 12, sigma: 0 })(seededRandom(1))).toBe(12);
    expect(logNormal({ meanMs: 0 })(seededRandom(1))).toBe(0);
    expect(() => logNormal({ meanMs: -1 })).toThrow('`meanMs`');
    expect(() => logNormal({ meanMs: 1, sigma: Number.NaN })).toThrow('`sigma`');
  });
});
