import { describe, expect, it } from 'vitest';
import type { Verdict } from '../../../src/model/feedback.ts';
import { SentAttempt } from '../../../src/policies/adaptive-rate/attempts/sent-attempt.ts';
import { LimitSigns } from '../../../src/policies/adaptive-rate/limit-signs.ts';

const BARE: Verdict = { kind: 'throttled' };
const BUSY: Verdict = { kind: 'overloaded' };
const report = (remaining: number) => ({ unit: 'requests', limit: 10, remaining }) as const;
const LIMITS: Verdict = { kind: 'ok', limits: [report(3)] };

describe('what a rejection says of its cause', () => {
  it('is a limit where nothing else is told, and no limit where a server is busy', () => {
    const signs = new LimitSigns();
    expect([signs.isForeign(BARE), signs.isForeign(BUSY)]).toEqual([false, true]);
  });

  it.each<[string, Verdict]>([
    ['wait', { ...BARE, retryAfterMs: 10 }],
    ['limit', { ...BARE, limits: [report(0)] }],
    ['cap', { ...BARE, limit: 'concurrency' }],
  ])('is another cause where a %s was told, and is missing', (_, told) => {
    const signs = new LimitSigns();
    expect(signs.isForeign(told)).toBe(false);
    expect(signs.isForeign({ ...told, kind: 'overloaded' })).toBe(false);
    expect(signs.isForeign(BARE)).toBe(true);
  });

  it('is no limit where a server is busy, and reports that something is left of each limit', () => {
    const signs = new LimitSigns();
    const busy = (...left: number[]) => signs.isForeign({ ...BUSY, limits: left.map(report) });
    expect([busy(3), busy(3, 1), busy(3, 0), busy(0)]).toEqual([true, true, false, false]);
    const tokens = { unit: 'tokens', limit: 10 } as const;
    expect(signs.isForeign({ ...BUSY, limits: [report(3), tokens] })).toBe(false);
    expect(signs.isForeign({ ...BARE, limits: [report(3)] })).toBe(false);
    expect(signs.isForeign({ ...BUSY, limits: [report(3)], retryAfterMs: 10 })).toBe(false);
  });

  it('is another cause where answers tell limits, and it does not', () => {
    const signs = new LimitSigns();
    signs.answered(undefined);
    expect(signs.isTold).toBe(false);
    signs.answered(LIMITS.limits);
    expect(signs.isForeign(BARE)).toBe(true);
  });
});

describe('a wait that rejections name alike', () => {
  const named = (retryAfterMs: number): Verdict => ({ ...BARE, retryAfterMs });

  it('is the same as the one before, at first too', () => {
    const signs = new LimitSigns();
    const same = [10, 10, 20, 20, 10].map((ms) => signs.namesSameWait(named(ms)));
    expect(same).toEqual([true, true, false, true, false]);
  });

  it('is none where a rejection names no wait, or a limit beside it', () => {
    const signs = new LimitSigns();
    expect(signs.namesSameWait(named(10))).toBe(true);
    expect(signs.namesSameWait({ ...named(10), limits: [report(0)] })).toBe(false);
    expect(signs.namesSameWait({ ...named(10), limit: 'concurrency' })).toBe(false);
    expect(signs.namesSameWait(named(10))).toBe(true);
    expect(signs.namesSameWait(BARE)).toBe(false);
    expect(signs.namesSameWait(named(10))).toBe(true);
  });

  it('is none where answers, or other rejections, report limits', () => {
    const told = [new LimitSigns(), new LimitSigns()];
    told[0]?.answered(LIMITS.limits);
    told[1]?.isForeign({ ...BARE, limits: [report(0)] });
    expect(told.map((signs) => signs.namesSameWait(named(10)))).toEqual([false, false]);
  });
});

describe('a rejection that a cap may have caused', () => {
  const wait = { ...BARE, retryAfterMs: 10 };
  it.each<[string, Verdict, boolean, boolean]>([
    ['tells nothing', BARE, true, true],
    ['reports that something is left of each limit', { ...BARE, limits: [report(3)] }, false, true],
    ['reports a limit of which nothing is left', { ...BARE, limits: [report(0)] }, false, false],
    ['names a wait beside what is left', { ...wait, limits: [report(3)] }, false, false],
    ['names a limit', { ...BARE, limit: 'requests' }, false, false],
  ])('%s', (_what, verdict, isBare, mayBeByCap) => {
    const sent = new SentAttempt({
      ...{ at: 0, order: 0, others: 1, pacePerMs: 1, isPaced: false, isSaved: false, idleMs: 0 },
      charges: [{ at: 0, order: 0, total: 0, cost: 1, isOwed: false }],
    });
    new LimitSigns().describe(sent, verdict);
    expect({ isBare: sent.isBare, mayBeByCap: sent.mayBeByCap }).toEqual({ isBare, mayBeByCap });
  });
});
