import { describe, expect, it } from 'vitest';
import type { Cycle } from '../../../../src/policies/adaptive-rate/measured/cycle.ts';
import { MeasuredRate } from '../../../../src/policies/adaptive-rate/measured/measured-rate.ts';
import { RateProbing } from '../../../../src/policies/adaptive-rate/measured/rate-probing.ts';

/** A request every 10 ms. */
const PER_MS = 0.1;

/** Measures cycles one after the other, each with its end. */
function measuring(first = 1) {
  const rate = new MeasuredRate();
  const probing = new RateProbing();
  rate.first(PER_MS, first, 0, 0);
  let now = 0;
  return {
    rate,
    probing,
    /** @returns whether the cycle has shown something of the rate */
    cycle(accepted: number, openMs: number, closedMs: number, more: Partial<Cycle> = {}): boolean {
      const startedAt = now;
      const ms = openMs + closedMs;
      now += ms;
      const times = { startedAt, gapMs: 10, openMs, closedMs, ms, from: now - 10, to: now };
      const rest = { idleMs: 0, lateMs: 0, pacePerMs: PER_MS, isOutage: false };
      return rate.measure({ accepted, ...times, ...rest, ...more }, probing);
    },
  };
}

describe('a measured rate', () => {
  /** Six cycles of five requests at this rate: an incident, or a limit that has fallen. */
  function fall(cycle: ReturnType<typeof measuring>['cycle'], perMs: number, accepted = 5): void {
    const ms = accepted / perMs;
    for (let n = 0; n < 6; n += 1) cycle(accepted, ms - 10, 10, { pacePerMs: perMs });
  }

  it.each([
    ['an eighth, and below one a second', 0.005, 0.0005, 5, true],
    ['more than an eighth', 0.005, 0.0009, 5, false],
    ['an eighth, but not below one a second', 0.05, 0.002, 5, false],
    ['an eighth with much evidence', 0.005, 0.0005, 50, false],
  ])('that falls below %s: has fallen far?', (_, before, after, accepted, expected) => {
    const { rate, cycle } = measuring();
    for (let n = 0; n < 4; n += 1) cycle(50, 50 / before - 10, 10, { pacePerMs: before });
    expect(rate.hasFallenFar).toBe(false);
    fall(cycle, after, accepted);
    expect(rate.perMs).toBeCloseTo(after, 4);
    expect(rate.hasFallenFar).toBe(expected);
  });

  it.each([1, 50])('has fallen far from a first one of %i requests?', (accepted) => {
    const { rate, cycle } = measuring(accepted);
    fall(cycle, 0.0005);
    expect(rate.hasFallenFar).toBe(accepted === 50);
  });

  it('has fallen far from one that was stored', () => {
    const { rate, cycle, probing } = measuring();
    rate.begin(PER_MS, 0, probing);
    fall(cycle, 0.0005);
    expect(rate.hasFallenFar).toBe(true);
  });

  it('has not fallen far where the limit has changed by as much', () => {
    const { rate, cycle } = measuring();
    for (let n = 0; n < 4; n += 1) cycle(50, 9_990, 10, { pacePerMs: 0.005 });
    rate.scale(1 / 20);
    expect(rate.hasFallenFar).toBe(false);
  });

  it.each([
    [5, 30_000, true],
    [5, 91_000, false],
    [20, 30_000, false],
  ])('shows the limit, after %i requests, in a closure of %i ms: %s', (accepted, ms, expected) => {
    const { cycle } = measuring();
    for (let n = 0; n < 4; n += 1) cycle(50, 990, 10, { pacePerMs: 0.05 });
    expect(cycle(accepted, 20 * accepted, ms, { pacePerMs: 0.05 })).toBe(expected);
  });

  it.each([
    ['of 100 intervals and a minute and a half', 0.01, 91_000, false],
    ['of fewer intervals', 0.001, 91_000, true],
    ['that may be that of a window', 0.01, 90_000, true],
  ])('of little evidence is lowered by a closure %s: %#', (_, perMs, closedMs, expected) => {
    const { rate, cycle } = measuring();
    rate.first(perMs, 1, 0, 0);
    expect(cycle(5, 5 / perMs, closedMs, { pacePerMs: perMs })).toBe(expected);
    expect(rate.perMs < 0.9 * perMs).toBe(expected);
    // One in a row: such closures may be those of a long window.
    expect(cycle(5, 5 / perMs, closedMs, { pacePerMs: perMs })).toBe(true);
  });

  it('is what was accepted from one closure to the next', () => {
    const { rate, cycle } = measuring();
    for (let n = 0; n < 10; n += 1) {
      expect(cycle(50, 990, 10, { pacePerMs: 0.05 })).toBe(true);
    }
    expect(rate.perMs).toBeCloseTo(0.05, 3);
    expect(rate.isSure).toBe(true);
    expect(rate.bounds?.least).toBeLessThanOrEqual(0.05);
    expect(rate.bounds?.most).toBeGreaterThanOrEqual(0.05);
  });

  it('of a limit that has changed goes on with its bounds, as if it had always been that', () => {
    const { rate, cycle } = measuring();
    for (let n = 0; n < 4; n += 1) cycle(50, 990, 10, { pacePerMs: 0.05 });
    const { perMs, bounds, evidence } = rate;
    rate.scale(4);
    expect(rate.perMs).toBeCloseTo(4 * perMs, 9);
    // Bounds are off by one attempt at each end, whatever the limit.
    expect((rate.bounds?.least ?? 0) / (bounds?.least ?? 1)).toBeCloseTo(4, 1);
    for (let n = 0; n < 4; n += 1) cycle(200, 990, 10, { pacePerMs: 0.2 });
    expect(rate.perMs).toBeCloseTo(0.2, 3);
    expect(rate.evidence).toBe(4 * evidence + 4 * 200);
  });

  it('of a window that is overrun repeatedly leaves out what it may have been open unnoticed', () => {
    const { probing, cycle } = measuring();
    const overrun = (from: number) => cycle(200, 1_000, 1_000, { pacePerMs: 0.8, from });
    overrun(1_000);
    cycle(5, 490, 10, { pacePerMs: 0.011 });
    overrun(3_500);
    probing.plan(10, 8);
    // Accepted since the first overrun: 205 in the second that was open, and in 490 ms before it.
    expect(probing.paceOf(PER_MS)).toBeCloseTo((1.1 * 205) / 1_490, 9);
  });

  it('that is sure outlasts a closure that only an outage explains', () => {
    const { rate, cycle } = measuring();
    for (let n = 0; n < 10; n += 1) cycle(100, 990, 10);
    const { perMs } = rate;
    expect(cycle(100, 1_000, 60_000)).toBe(false);
    expect(rate.perMs).toBe(perMs);
    expect(rate.evidence).toBe(50);
  });

  it('that is not sure is lowered by such a closure', () => {
    const { rate, cycle } = measuring();
    expect(cycle(10, 100, 60_000)).toBe(true);
    expect(rate.perMs).toBeLessThan(PER_MS / 2);
  });

  it('follows outages that come one after the other until it is not sure any more', () => {
    const { rate, cycle } = measuring();
    for (let n = 0; n < 10; n += 1) cycle(100, 990, 10);
    const shown = Array.from({ length: 6 }, () => cycle(100, 1_000, 60_000, { isOutage: true }));
    expect(shown.slice(0, 2)).toEqual([false, false]);
    expect(shown).toContain(true);
    expect(rate.perMs).toBeLessThan(PER_MS / 2);
  });

  it('hardly changes for one attempt that was accepted by chance within a closure', () => {
    /** @param gapMs if it is longer than the open time, that only interrupted the closure before */
    const perMsAfter = (gapMs: number) => {
      const { rate, cycle } = measuring();
      for (let n = 0; n < 10; n += 1) cycle(100, 990, 10);
      cycle(1, 5, 95, { gapMs });
      return rate.perMs;
    };
    expect(perMsAfter(10)).toBeGreaterThan(0.09);
    expect(perMsAfter(1)).toBeLessThan(0.03);
  });

  it('keeps little evidence after a time of which nothing is known', () => {
    const { rate, cycle } = measuring();
    for (let n = 0; n < 10; n += 1) cycle(100, 990, 10);
    const { perMs } = rate;
    rate.interrupted(20_000, 30_000);
    expect([rate.perMs, rate.evidence]).toEqual([perMs, 50]);
  });

  it('measures nothing before the first closure', () => {
    const rate = new MeasuredRate();
    expect([rate.isKnown, rate.perMs, rate.bounds]).toEqual([false, 0, undefined]);
    rate.begin(PER_MS, 0, new RateProbing());
    expect([rate.isKnown, rate.isSure, rate.perMs]).toEqual([true, true, PER_MS]);
  });
});
