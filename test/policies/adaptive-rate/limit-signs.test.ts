import { describe, expect, it } from 'vitest';
import type { Verdict } from '../../../src/model/feedback.ts';
import { LimitSigns } from '../../../src/policies/adaptive-rate/limit-signs.ts';

const BARE: Verdict = { kind: 'throttled' };
const BUSY: Verdict = { kind: 'overloaded' };
const LIMITS: Verdict = { kind: 'ok', limits: [{ unit: 'requests', limit: 10, remaining: 3 }] };

describe('what a rejection says of its cause', () => {
  it('is a limit where nothing else is told, and no limit where a server is busy', () => {
    const signs = new LimitSigns();
    expect([signs.isForeign(BARE), signs.isForeign(BUSY)]).toEqual([false, true]);
  });

  it.each<[string, Verdict]>([
    ['wait', { ...BARE, retryAfterMs: 10 }],
    ['limit', { ...BARE, limits: LIMITS.limits ?? [] }],
    ['cap', { ...BARE, limit: 'concurrency' }],
  ])('is another cause where a %s was told, and is missing', (_, told) => {
    const signs = new LimitSigns();
    expect(signs.isForeign(told)).toBe(false);
    expect(signs.isForeign({ ...told, kind: 'overloaded' })).toBe(false);
    expect(signs.isForeign(BARE)).toBe(true);
  });

  it('is another cause where answers tell limits, and it does not', () => {
    const signs = new LimitSigns();
    signs.answered({ kind: 'ok' });
    expect(signs.isTold).toBe(false);
    signs.answered(LIMITS);
    expect(signs.isForeign(BARE)).toBe(true);
  });
});
