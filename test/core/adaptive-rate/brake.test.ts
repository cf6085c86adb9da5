import { describe, expect, it } from 'vitest';
import { Brake } from '../../../src/core/adaptive-rate/brake.ts';

describe('a brake', () => {
  it('halves the rate with each rejection that follows closely', () => {
    const brake = new Brake();
    expect(brake.factor).toBe(1);
    brake.press();
    brake.press();
    expect(brake.factor).toBe(0.25);
  });

  it('is released by what is sent, and by no more than it was pressed', () => {
    const brake = new Brake();
    brake.press();
    brake.sent();
    expect(brake.factor).toBeCloseTo(0.55, 12);
    for (let n = 0; n < 7; n += 1) brake.sent();
    expect(brake.factor).toBe(1);
    brake.sent();
    expect(brake.factor).toBe(1);
  });
});
