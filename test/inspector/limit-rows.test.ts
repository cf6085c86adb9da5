import { expect, it } from 'vitest';
import type { GateState } from '../../src/inspector/gate-state.ts';
import { limitRowsOf } from '../../src/inspector/limit-rows.ts';
import { NOTHING_KNOWN } from '../../src/policies/adaptive-rate/rate-snapshot.ts';

/** What is said of a learned rate. */
function noteOf(perSecond: number, evidence: number, rejectedByChance = 0): string | undefined {
  const rate = {
    ...NOTHING_KNOWN,
    origin: 'learned' as const,
    perSecond,
    ceilingPerSecond: perSecond,
    leastPerSecond: perSecond / 2,
    mostPerSecond: perSecond * 2,
    evidence,
    rejectedByChance,
  };
  const bytes = { used: 0, limit: 1 };
  const state = { rate, bytes, inFlight: 0, limit: 1, maxLimit: 1, hasThrottledSlots: false };
  return limitRowsOf(state as unknown as GateState)[0]?.note;
}

it('a learned rate is told with its bounds in one unit, and from whole answers', () => {
  expect(noteOf(5, 1.69)).toBe(
    'measured 300 a minute, between 150 and 600 a minute, from 2 answers',
  );
  expect(noteOf(15, 0.2)).toBe('measured 15 a second, between 7.5 and 30 a second, from 1 answer');
});

it('rejections by chance are told with the rate that they do not lower', () => {
  expect(noteOf(15, 20, 0.104)).toMatch(/, from 20 answers, 10 % are rejected whatever the rate$/);
  expect(noteOf(15, 20, 0.004)).toMatch(/, from 20 answers$/);
});

it('a budget of money is told with what is left of it', () => {
  const told = (used: number) => {
    const costs = { used, maxCost: 5, windowMs: 3_600_000, available: 5 - used, resetMs: 60_000 };
    const bytes = { used: 0, limit: 1 };
    const state = { costs, bytes, inFlight: 0, limit: 1, maxLimit: 1, hasThrottledSlots: false };
    return limitRowsOf(state as unknown as GateState)[0];
  };
  expect(told(1.25)).toMatchObject({
    name: 'budget of money',
    used: 1.25,
    limit: 5,
    windowMs: 3_600_000,
    leftMs: 60_000,
    note: '3.75 may be spent now',
  });
  expect(told(0)).toMatchObject({ leftMs: undefined });
  expect(told(6)).toMatchObject({ note: 'in debt: more was spent than estimated' });
});
