import { describe, expect, it } from 'vitest';
import {
  type Described,
  isSmall,
  type Report,
  spareOf,
} from '../../../../src/policies/adaptive-rate/reported/report.ts';

const report = { limit: 400 } as Report;
const held = (kind: Described['kind'], highest = 400) => ({ kind, highest }) as Described;

describe('the amount left unused', () => {
  it('is half a percent of a window', () => {
    for (const share of [0, 1]) expect(spareOf(report, held('sliding'), share)).toBe(2);
    expect(spareOf(report, held(undefined))).toBe(2);
  });

  it.each([
    [0, 2],
    [0.5, 5],
    [1, 8],
    [3, 8],
  ])('of a bucket grows with the share of its rate: %f of it leave %i of 400', (share, spare) => {
    expect(spareOf(report, held('bucket'), share)).toBe(spare);
  });

  it('is at least one', () => {
    expect(spareOf({ ...report, limit: 20 }, held('bucket'), 1)).toBe(1);
  });

  it('is at most half of what the limit holds', () => {
    expect(spareOf(report, held('bucket', 10), 1)).toBe(5);
    expect(spareOf(report, held('bucket', 1), 1)).toBe(0.5);
    expect(spareOf(report, held('sliding', 0))).toBe(0);
  });
});

describe('a limit is too small to tell the rate by what is left', () => {
  it.each([
    { kind: 'bucket', limit: 20, highest: 4, small: false },
    { kind: 'bucket', limit: 19, highest: 4, small: true },
    { kind: 'bucket', limit: 19, highest: 5, small: false },
    { kind: 'bucket', limit: 5, highest: 5, small: true },
    { kind: 'sliding', limit: 19, highest: 18, small: true },
    { kind: 'sliding', limit: 20, highest: 0, small: false },
    { kind: undefined, limit: 19, highest: 4, small: true },
    { kind: undefined, limit: 19, highest: 5, small: false },
  ] as const)(
    '$kind of $limit, of which $highest were left: $small',
    ({ limit, small, ...known }) => {
      expect(isSmall({ ...report, limit }, known as unknown as Described)).toBe(small);
    },
  );
});
