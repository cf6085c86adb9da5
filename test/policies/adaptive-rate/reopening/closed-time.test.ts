import { describe, expect, it } from 'vitest';
import { ClosedTime } from '../../../../src/policies/adaptive-rate/reopening/closed-time.ts';

/** Plans some probes, each when the last one was due. @returns the delays, in ms */
function delays(probes: number, endMs: number): number[] {
  const closed = new ClosedTime(60_000);
  closed.begin();
  let now = 0;
  return Array.from({ length: probes }, () => {
    closed.probe(now, endMs, 50, 1_000, 1_000);
    const delayMs = closed.until - now;
    now = closed.until;
    return delayMs;
  });
}

describe('the time in which a provider rejects everything', () => {
  it('has probes at growing distances if its end is not known', () => {
    const [first = 0, second = 0, third = 0] = delays(3, Number.POSITIVE_INFINITY);
    expect(second).toBeGreaterThan(first);
    expect(third).toBeGreaterThan(second);
  });

  it('has a probe at the reported end of a used-up limit, if that is sooner', () => {
    const [first = 0, ...others] = delays(6, 1_500);
    expect(first).toBeLessThan(1_500);
    expect(others.at(-1)).toBe(1_500);
    expect(Math.max(...others)).toBe(1_500);
  });

  it('has no probes close together, where the reported end is rounded to none', () => {
    expect(delays(3, 0)).toEqual([100, 100, 100]);
  });
});
