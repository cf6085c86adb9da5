import { describe, expect, it } from 'vitest';
import { ProbeDelay } from '../../../../src/policies/adaptive-rate/reopening/probe-delay.ts';

const gaps = (count: number, horizonMs: number, intervalMs: number) => {
  const probes = new ProbeDelay();
  return Array.from({ length: count }, () => probes.next(horizonMs, intervalMs));
};

describe('the gap between two probes', () => {
  it('is 100 ms at first, and 1.6 times as long after each', () => {
    const [first, second, third] = gaps(3, 0, 0);
    expect([first, second]).toEqual([100, 160]);
    expect(third).toBeCloseTo(256, 6);
  });

  it('is 30 s at the most', () => {
    expect(gaps(30, 0, 0).at(-1)).toBe(30_000);
  });

  it('is at least half as long as rejections take, and as the mean interval up to 30 s', () => {
    expect(gaps(1, 1_000, 0)).toEqual([500]);
    expect(gaps(1, 1_000, 2_000)).toEqual([2_000]);
    expect(gaps(1, 0, 60_000)).toEqual([30_000]);
  });

  it('grows from the mean interval at the first probe, not from one that contains the probes', () => {
    const probes = new ProbeDelay();
    const all = [1_000, 2_000, 4_600].map((intervalMs) => probes.next(0, intervalMs));
    expect(all.map(Math.round)).toEqual([1_000, 1_600, 2_560]);
  });

  it('grows to four times the mean interval, where that is longer', () => {
    expect(gaps(8, 0, 60_000).at(-1)).toBe(240_000);
  });

  it('grows further after eight probes, 5 % a probe, up to forty times the mean interval', () => {
    const [last = 0, next = 0] = gaps(20, 0, 60_000).slice(-2);
    expect(next / last).toBeCloseTo(1.05, 9);
    expect(gaps(200, 0, 60_000).at(-1)).toBe(2_400_000);
  });

  it('grows so far by what was accepted too, where the measured rate is higher', () => {
    const probes = new ProbeDelay();
    const all = Array.from({ length: 200 }, () => probes.next(0, 1, 60_000));
    expect(all.at(-1)).toBe(2_400_000);
  });

  it('grows more slowly while probes are few beside what is accepted', () => {
    // Of 1,000 a second, a probe each 500 ms is one in 500.
    const few = gaps(9, 0, 1);
    expect((few[3] ?? 0) / (few[2] ?? 0)).toBeCloseTo(1.6, 9);
    expect((few[5] ?? 0) / (few[4] ?? 0)).toBeCloseTo(1.3, 9);
    const long = gaps(60, 0, 1);
    expect(long.at(-1)).toBe(30_000);
    // Six in a minute are no flood: from there on still more slowly.
    const late = long.findIndex((gap) => gap >= 10_000);
    expect((long[late] ?? 0) / (long[late - 1] ?? 0)).toBeCloseTo(1.3, 9);
    expect((long[late + 1] ?? 0) / (long[late] ?? 0)).toBeCloseTo(1.1, 9);
    const many = gaps(9, 0, 50);
    expect((many[8] ?? 0) / (many[7] ?? 0)).toBeCloseTo(1.6, 9);
  });

  it('begins anew once something is let in', () => {
    const probes = new ProbeDelay();
    probes.next(0, 0);
    probes.next(0, 0);
    expect(probes.count).toBe(2);
    probes.reset();
    expect(probes.count).toBe(0);
    expect(probes.next(0, 0)).toBe(100);
  });
});
