import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Interval } from '../../src/policies/interval.ts';

describe('the interval', () => {
  const slowed = (interval: Interval, times: number) =>
    Array.from({ length: times }, () => interval.slower());
  const hastened = (interval: Interval, times: number) =>
    Array.from({ length: times }, () => interval.faster());

  it('doubles to the longest and halves back to the configured one', () => {
    const interval = new Interval({ intervalMs: 200, maxIntervalMs: 1_000 });
    expect(slowed(interval, 4)).toEqual([400, 800, 1_000, 1_000]);
    expect(interval.isSlowed).toBe(true);
    expect(hastened(interval, 4)).toEqual([500, 250, 200, 200]);
    expect(interval.isSlowed).toBe(false);
  });

  it('goes from 0 to 200 ms with the first doubling, and back to 0', () => {
    const interval = new Interval({ intervalMs: 0 });
    expect(slowed(interval, 3)).toEqual([200, 400, 800]);
    expect(hastened(interval, 4)).toEqual([400, 200, 0, 0]);
    expect(slowed(new Interval({ intervalMs: 0, maxIntervalMs: 50 }), 2)).toEqual([50, 50]);
    expect(slowed(new Interval({ intervalMs: 0, maxIntervalMs: 0 }), 2)).toEqual([0, 0]);
  });

  it('may be configured longer than the longest by default', () => {
    expect(slowed(new Interval({ intervalMs: 60_000 }), 1)).toEqual([60_000]);
  });

  it('follows new bounds: as configured if it was, else as far as it may', () => {
    const interval = new Interval({ intervalMs: 100 });
    interval.configure({ intervalMs: 300 });
    expect(interval.ms).toBe(300);
    interval.configure({ intervalMs: 150 });
    expect(interval.ms).toBe(150);
    slowed(interval, 3);
    interval.configure({ intervalMs: 50, maxIntervalMs: 1_000 });
    expect(interval.ms).toBe(1_000);
    interval.configure({ intervalMs: 2_000 });
    expect([interval.ms, interval.minMs, interval.maxMs]).toEqual([2_000, 2_000, 30_000]);
  });

  it('stays within its bounds, and as many halvings as doublings bring it back', () => {
    fc.assert(
      fc.property(
        fc.nat(500),
        fc.nat(5_000),
        fc.array(fc.constantFrom('slower' as const, 'faster' as const), {
          maxLength: 40,
          size: 'max',
        }),
        (minMs, moreMs, script) => {
          const interval = new Interval({ intervalMs: minMs, maxIntervalMs: minMs + moreMs });
          for (const method of script) {
            const before = interval.ms;
            const after = interval[method]();
            expect(after).toBe(interval.ms);
            expect(after).toBeGreaterThanOrEqual(minMs);
            expect(after).toBeLessThanOrEqual(minMs + moreMs);
            if (method === 'slower') expect(after).toBeGreaterThanOrEqual(before);
            else expect(after).toBeLessThanOrEqual(before);
          }
          hastened(interval, script.length);
          expect(interval.ms).toBe(minMs);
        },
      ),
    );
  });
});
