import { describe, expect, it } from 'vitest';
import { Hold } from '../../../src/core/adaptive-rate/hold.ts';

const SAME = { ratePerMs: 0.1, requestsPerMs: 0.1, isSame: true, isSettled: true };
const OTHER = { ...SAME, isSame: false, isSettled: false };

describe('a rate that was measured', () => {
  it('is held for 26 s where it is as it was, and for 10 s where it has changed', () => {
    const hold = new Hold();
    expect(hold.after(SAME)).toBe(26_000);
    expect(hold.after(OTHER)).toBe(10_000);
    expect(hold.after({ ...SAME, isSame: false })).toBe(26_000);
  });

  it('is held for 12 s where it is below 0.6 of the highest that was confirmed lately', () => {
    const hold = new Hold();
    hold.after(SAME);
    expect(hold.after({ ...SAME, ratePerMs: 0.061 })).toBe(26_000);
    expect(hold.after({ ...SAME, ratePerMs: 0.057 })).toBe(12_000);
    // It fades by a fiftieth with each that is confirmed.
    expect(hold.after({ ...SAME, ratePerMs: 0.057 })).toBe(26_000);
  });

  it('is held for a hundred requests, but no longer than five minutes', () => {
    const hold = new Hold();
    expect(hold.after({ ...SAME, requestsPerMs: 1 / 1_000 })).toBe(100_000);
    expect(hold.after({ ...SAME, requestsPerMs: 1 / 60_000 })).toBe(300_000);
    expect(hold.after({ ...OTHER, requestsPerMs: 1 / 60_000 })).toBe(10_000);
  });

  it('is held for 1.4 times as long where the limit was configured', () => {
    const hold = new Hold();
    hold.setConfigured();
    expect(hold.after(SAME)).toBeCloseTo(36_400, 9);
    expect(hold.after(OTHER)).toBeCloseTo(14_000, 9);
  });
});
