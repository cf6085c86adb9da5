import { describe, expect, it } from 'vitest';
import { type Report, spareOf } from '../../../src/policies/adaptive-rate/report.ts';

const report = { limit: 400 } as Report;

describe('the amount left unused', () => {
  it('is half a percent of a window', () => {
    for (const share of [0, 1]) expect(spareOf(report, 'sliding', share)).toBe(2);
    expect(spareOf(report, undefined)).toBe(2);
  });

  it.each([
    [0, 2],
    [0.5, 5],
    [1, 8],
    [3, 8],
  ])('of a bucket grows with the share of its rate: %f of it leave %i of 400', (share, spare) => {
    expect(spareOf(report, 'bucket', share)).toBe(spare);
  });

  it('is at least one', () => {
    expect(spareOf({ ...report, limit: 20 }, 'bucket', 1)).toBe(1);
  });
});
