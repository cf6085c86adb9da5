import { describe, expect, it } from 'vitest';
import { Pacer } from '../../../../src/policies/adaptive-rate/units/pacer.ts';

describe('a pacer', () => {
  it('spaces what is sent evenly, whatever it waits for between', () => {
    const pacer = new Pacer(1 / 100);
    const sentAt: number[] = [];
    for (let now = 0; now <= 1_000; now += 10) {
      if (pacer.wait(now) > 0) continue;
      sentAt.push(now);
      pacer.take(1, now);
    }
    expect(sentAt).toEqual([0, 100, 200, 300, 400, 500, 600, 700, 800, 900, 1_000]);
  });

  it('lets one go once what went before is paid for, whatever it costs itself', () => {
    const pacer = new Pacer(1);
    pacer.take(500, 0);
    expect(pacer.wait(0)).toBe(500);
    expect(pacer.wait(499)).toBe(1);
    expect(pacer.wait(500)).toBe(0);
  });

  it('saves nothing up while nobody sends', () => {
    const pacer = new Pacer(1 / 100);
    pacer.take(1, 0);
    pacer.take(1, 10_000);
    expect(pacer.wait(10_000)).toBe(100);
  });

  it('keeps what is owed the same amount when the rate changes', () => {
    const pacer = new Pacer(1 / 100);
    pacer.take(3, 0);
    pacer.setRate(1 / 50, 100);
    expect(pacer.wait(100)).toBe(100);
    pacer.setRate(1 / 200, 100);
    expect(pacer.wait(100)).toBe(400);
    expect(pacer.ratePerMs).toBe(1 / 200);
    pacer.setRate(1 / 50, 490);
    expect(pacer.wait(490)).toBe(2.5);
  });

  it('owes nothing more after a time without a rate', () => {
    const pacer = new Pacer(1 / 100);
    pacer.take(5, 0);
    pacer.setRate(Number.POSITIVE_INFINITY, 10);
    expect(pacer.wait(10)).toBe(0);
    pacer.take(5, 10);
    // A reading of the clock that was taken before, in the same turn.
    pacer.setRate(1 / 100, 9);
    expect(pacer.wait(10)).toBe(0);
  });

  it('gives back what was not used, and charges what was used more', () => {
    const pacer = new Pacer(1);
    pacer.take(100, 0);
    pacer.giveBack(40);
    expect(pacer.wait(0)).toBe(60);
    pacer.giveBack(-20);
    expect(pacer.wait(0)).toBe(80);
  });

  it('can be delayed, and is never brought forward by that', () => {
    const pacer = new Pacer(1);
    pacer.delayUntil(200);
    pacer.delayUntil(100);
    expect(pacer.wait(50)).toBe(150);
  });

  it('lets what was saved while nobody sent go at once, where that is allowed', () => {
    const pacer = new Pacer(1 / 100);
    for (let n = 0; n < 3; n += 1) pacer.take(1, 0, 200);
    expect(pacer.wait(0)).toBe(100);
    for (let n = 0; n < 3; n += 1) pacer.take(1, 50_000, 200);
    expect(pacer.wait(50_000)).toBe(100);
  });
});
