import { describe, expect, it } from 'vitest';
import { TokenRatio } from '../../../../src/policies/adaptive-rate/units/token-ratio.ts';

describe('the ratio of real tokens to estimated ones', () => {
  it('says nothing of estimates until one was measured', () => {
    expect(new TokenRatio().expected(100)).toBeUndefined();
    const nothing = new TokenRatio();
    nothing.measured(0, 50);
    expect(nothing.expected(100)).toBeUndefined();
  });

  it('expects as much more or less as the last ones have used', () => {
    const ratio = new TokenRatio();
    ratio.measured(100, 50);
    expect(ratio.expected(1_000)).toBe(500);
    for (let n = 0; n < 1_000; n += 1) ratio.measured(100, 300);
    expect(ratio.expected(1_000)).toBeCloseTo(3_000, 3);
  });

  it('weighs large requests more, and forgets a fiftieth with each', () => {
    const ratio = new TokenRatio();
    ratio.measured(100, 200);
    ratio.measured(900, 900);
    expect(ratio.expected(1)).toBeCloseTo((0.98 * 200 + 900) / (0.98 * 100 + 900), 12);
  });

  it('expects what is usual where nobody estimates, and keeps the two apart', () => {
    const ratio = new TokenRatio();
    expect(ratio.expected(0)).toBeUndefined();
    ratio.measured(0, 400);
    ratio.measured(100, 50);
    expect(ratio.expected(0)).toBe(400);
    ratio.measured(0, 800);
    expect(ratio.expected(0)).toBeCloseTo((0.98 * 400 + 800) / 1.98, 12);
    expect(ratio.expected(100)).toBe(50);
  });
});
