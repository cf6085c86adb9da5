import { describe, expect, it } from 'vitest';
import { UnitRate } from '../../../../src/policies/adaptive-rate/units/unit-rate.ts';

const NONE = Number.POSITIVE_INFINITY;

const rateOf = (hardPerMs = NONE) => new UnitRate(() => hardPerMs);

describe('the rate of one thing that a provider counts', () => {
  it('has no bound where nothing is known', () => {
    const rate = rateOf();
    expect(rate.wait(NONE, 0)).toBe(0);
    rate.take(1, 0);
    expect(rate.wait(NONE, 0)).toBe(0);
    expect(rate.origin).toBe('start');
  });

  it('leaves a limit that was configured to its own policy, and shows it', () => {
    const rate = rateOf(0.01);
    rate.wait(NONE, 0);
    rate.take(1, 0);
    expect(rate.wait(NONE, 0)).toBe(0);
    expect(rate.origin).toBe('limit');
    expect(rate.meanPerMs).toBeCloseTo(0.00998, 9);
  });

  it('is no more than 99.8 % of that once anything was learned', () => {
    const rate = rateOf(0.01);
    rate.wait(0.02, 0);
    rate.take(1, 0);
    expect(rate.wait(0.02, 0)).toBeCloseTo(100 / 0.998, 6);
    expect(rate.origin).toBe('limit');
  });

  it('is what was learned, where that is lower', () => {
    const rate = rateOf(0.01);
    rate.wait(0.005, 0);
    rate.take(1, 0);
    expect(rate.wait(0.005, 0)).toBeCloseTo(200, 6);
    expect(rate.origin).toBe('learned');
    rate.wait(0.02, 0);
    expect(rate.origin).toBe('limit');
  });

  it('is what answers tell, where that is lower', () => {
    const rate = rateOf(1);
    rate.wait(NONE, 0);
    const charge = rate.take(1, 0);
    rate.report({ unit: 'requests', limit: 10, remaining: 0, windowMs: 1_000 }, charge, true, 10);
    rate.wait(NONE, 10);
    expect(rate.origin).toBe('headers');
    expect(rate.perMs).toBeLessThanOrEqual(0.01);
  });

  it('follows a limit that is configured anew', () => {
    let perMs = 0.01;
    const rate = new UnitRate(() => perMs);
    rate.wait(1, 0);
    expect(rate.perMs).toBeCloseTo(0.00998, 9);
    perMs = 0.02;
    rate.wait(1, 0);
    expect(rate.perMs).toBeCloseTo(0.01996, 9);
  });

  it('owes what an attempt has cost beyond what was thought, and is owed what was never sent', () => {
    const rate = rateOf();
    rate.wait(1, 0);
    const charge = rate.take(10, 0);
    expect(rate.wait(1, 0)).toBeCloseTo(10, 6);
    rate.settle(charge, 15);
    expect(rate.wait(1, 0)).toBeCloseTo(15, 6);
    const unsent = rate.take(20, 0);
    expect(rate.wait(1, 0)).toBeCloseTo(35, 6);
    rate.reject(unsent, true);
    expect(rate.wait(1, 0)).toBeCloseTo(15, 6);
  });

  it('keeps what was rejected as paid: it was sent', () => {
    const rate = rateOf();
    rate.wait(1, 0);
    rate.reject(rate.take(10, 0), false);
    expect(rate.wait(1, 0)).toBeCloseTo(10, 6);
  });

  it('owes nothing for what was sent before there was a rate', () => {
    const rate = rateOf();
    rate.wait(NONE, 0);
    const charge = rate.take(10, 0);
    rate.wait(1, 0);
    rate.settle(charge, 100);
    expect(rate.wait(1, 0)).toBe(0);
  });

  it('lets go at once what is saved', () => {
    const rate = rateOf();
    rate.wait(0.01, 0);
    for (let n = 0; n < 5; n += 1) rate.take(1, 1_000, 500);
    expect(rate.wait(0.01, 1_000)).toBe(0);
    rate.take(1, 1_000, 500);
    expect(rate.wait(0.01, 1_000)).toBeCloseTo(100, 6);
  });

  it('makes up for late timers, but not where a learned pace keeps requests apart', () => {
    const rate = rateOf(0.01);
    rate.wait(NONE, 0);
    expect(rate.lateMs).toBe(10);
    rate.wait(0.005, 0);
    expect(rate.lateMs).toBe(0);
    rate.wait(0.5, 0);
    expect(rate.lateMs).toBe(10);
    const fast = rateOf();
    fast.wait(0.5, 0);
    expect(fast.lateMs).toBe(10);
  });

  it('lets nothing go before a time that was named', () => {
    const rate = rateOf(1);
    rate.wait(NONE, 0);
    rate.delayUntil(500);
    expect(rate.wait(NONE, 100)).toBe(400);
    expect(rate.freeAt).toBe(500);
  });
});
