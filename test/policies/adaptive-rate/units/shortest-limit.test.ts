import { describe, expect, it } from 'vitest';
import type { ReportedLimit } from '../../../../src/model/feedback.ts';
import { shortestOf } from '../../../../src/policies/adaptive-rate/units/shortest-limit.ts';

const MINUTE = { unit: 'requests', limit: 100, windowMs: 60_000 } as const;

describe('the shortest of several told limits', () => {
  it('is of the unit that is asked for', () => {
    const tokens = { unit: 'tokens', limit: 5, windowMs: 1_000 } as const;
    expect(shortestOf([tokens, MINUTE], 'requests')).toBe(MINUTE);
    expect(shortestOf([tokens], 'requests')).toBeUndefined();
    expect(shortestOf([], 'requests')).toBeUndefined();
  });

  it('has the shortest window, one that is not told before all', () => {
    const second = { ...MINUTE, windowMs: 1_000 };
    const untold = { unit: 'requests', limit: 100 } as const;
    expect(shortestOf([MINUTE, second], 'requests')).toBe(second);
    expect(shortestOf([second, MINUTE], 'requests')).toBe(second);
    expect(shortestOf([second, untold, MINUTE], 'requests')).toBe(untold);
  });

  it('is none of a day: that paces nobody', () => {
    expect(shortestOf([{ ...MINUTE, windowMs: 86_400_000 }], 'requests')).toBeUndefined();
    const hour = { ...MINUTE, windowMs: 3_600_000 };
    expect(shortestOf([hour], 'requests')).toBe(hour);
  });

  it.each<Partial<ReportedLimit>>([
    { limit: Number.NaN },
    { limit: 0 },
    { limit: 0.5 },
    { limit: -1 },
    { limit: Number.POSITIVE_INFINITY },
    { limit: 1e300 },
    { remaining: Number.NaN },
    { remaining: -1 },
    { resetMs: Number.NEGATIVE_INFINITY },
    { resetMs: 1e300 },
    { windowMs: 0 },
    { windowMs: 1e-300 },
    { windowMs: Number.NaN },
  ])('is none that makes no sense: %o', (wrong) => {
    expect(shortestOf([{ ...MINUTE, ...wrong }], 'requests')).toBeUndefined();
  });

  it('needs no more than a limit', () => {
    expect(shortestOf([{ unit: 'requests', remaining: 5 }], 'requests')).toBeUndefined();
    const bare = { unit: 'requests', limit: 1 } as const;
    expect(shortestOf([bare], 'requests')).toBe(bare);
  });
});
