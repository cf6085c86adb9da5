import { describe, expect, it } from 'vitest';
import { OverloadLimit } from '../../../src/core/adaptive-rate/overload-limit.ts';

describe('a limit of what is in flight', () => {
  it('begins where it is told, and doubles in a second while it binds', () => {
    const limit = new OverloadLimit(16, 100, 0);
    expect(limit.limitAt(0, true)).toBe(16);
    expect(limit.limitAt(500, true)).toBe(22);
    expect(limit.limitAt(1_000, true)).toBe(32);
    expect(limit.limitAt(2_000, true)).toBe(64);
    expect(limit.limitAt(3_000, true)).toBe(100);
  });

  it('does not grow while fewer are in flight, nor for that time later', () => {
    const limit = new OverloadLimit(16, 100, 0);
    expect(limit.limitAt(60_000, false)).toBe(16);
    expect(limit.limitAt(60_500, true)).toBe(22);
    // However long nobody looked, it doubles at most.
    expect(limit.limitAt(600_000, true)).toBe(45);
  });

  /** Asked as often as it is while requests end, until a time. @returns the limit then */
  const askUntil = (limit: OverloadLimit, from: number, to: number, isBound = true) => {
    let last = limit.limitAt(from, isBound);
    for (let now = from; now <= to; now += 250) last = limit.limitAt(now, isBound);
    return last;
  };

  it('stays a little below what was too much, and tries more after 20 s', () => {
    const limit = new OverloadLimit(64, 100, 0);
    limit.overloaded(0, 41, 100);
    expect(askUntil(limit, 100, 20_099)).toBe(38);
    expect(askUntil(limit, 20_100, 20_350)).toBe(41);
    expect(askUntil(limit, 20_350, 24_100)).toBe(44);
    expect(askUntil(limit, 24_100, 28_100)).toBe(53);
    expect(askUntil(limit, 28_100, 60_000)).toBe(100);
  });

  it('tries more only while as many are in flight as may be, and a second at a time', () => {
    const limit = new OverloadLimit(64, 10_000, 0);
    limit.overloaded(0, 41, 0);
    expect(askUntil(limit, 0, 600_000, false)).toBe(38);
    expect(limit.limitAt(900_000, true)).toBe(42);
  });

  it('is tried up to what is allowed, however little was too much', () => {
    const limit = new OverloadLimit(64, 10_000, 0);
    limit.overloaded(0, 1, 100);
    expect(askUntil(limit, 100, 20_000)).toBe(1);
    expect(askUntil(limit, 20_000, 40_000)).toBeLessThan(50);
    expect(askUntil(limit, 40_000, 60_000)).toBe(10_000);
  });

  it('stays at what few could be in flight, and tries one more', () => {
    const limit = new OverloadLimit(64, 64, 0);
    limit.overloaded(0, 5, 0);
    expect(limit.held).toBe(4);
    expect(askUntil(limit, 0, 19_999)).toBe(4);
    expect(askUntil(limit, 20_000, 20_500)).toBe(5);
  });

  it('tries sooner and faster where it is told to, until the same is too much again', () => {
    const limit = new OverloadLimit(64, 400, 0);
    limit.overloaded(0, 65, 0, 64, 2_000);
    expect(askUntil(limit, 0, 2_000)).toBe(61);
    expect(askUntil(limit, 2_000, 4_000)).toBe(85);
    limit.overloaded(4_001, 65, 4_001, 64, 2_000);
    expect(askUntil(limit, 4_001, 8_001)).toBe(61);
    // Half as fast.
    expect(askUntil(limit, 8_001, 10_001)).toBe(70);
  });

  it('cuts once for all that was sent before', () => {
    const limit = new OverloadLimit(64, 64, 0);
    expect(limit.isLate(0)).toBe(false);
    limit.overloaded(0, 41, 100);
    limit.overloaded(50, 21, 110);
    limit.overloaded(100, 11, 120);
    expect([limit.isLate(100), limit.isLate(101)]).toEqual([true, false]);
    expect(limit.limitAt(120, true)).toBe(38);
    expect(limit.ceiling).toBe(40);
    limit.overloaded(101, 31, 130);
    expect(limit.limitAt(130, true)).toBe(29);
  });

  it('falls as far as those who were sent before the cut are turned away', () => {
    const limit = new OverloadLimit(64, 400, 0);
    for (let left = 399; left >= 64; left -= 1) limit.overloaded(0, left + 1, 100, left);
    expect(limit.limitAt(100, true)).toBe(61);
    limit.overloaded(0, 81, 110, 80);
    expect(limit.limitAt(110, true)).toBe(61);
  });

  it('does not fall where those who were let in have ended before others are turned away', () => {
    const limit = new OverloadLimit(400, 400, 0);
    for (let left = 35; left >= 0; left -= 1) limit.overloaded(0, 100 - left, 3_000, left);
    expect(limit.ceiling).toBe(64);
  });

  it('never falls below one', () => {
    const limit = new OverloadLimit(64, 64, 0);
    limit.overloaded(0, 1, 100);
    expect(limit.limitAt(100, true)).toBe(1);
    limit.overloaded(150, 0, 200);
    expect(limit.limitAt(200, true)).toBe(1);
  });

  it('waits twice as long where the same is too much again, and not where it has changed', () => {
    const limit = new OverloadLimit(64, 200, 0);
    limit.overloaded(0, 41, 0);
    limit.overloaded(30_000, 42, 30_000);
    expect(askUntil(limit, 30_000, 69_999)).toBe(39);
    expect(askUntil(limit, 70_000, 70_250)).toBe(42);
    limit.overloaded(80_000, 101, 80_000);
    expect(askUntil(limit, 80_000, 99_999)).toBe(95);
    expect(askUntil(limit, 100_000, 100_250)).toBe(103);
  });

  it('waits no longer where the same comes before more was tried: it falls', () => {
    const limit = new OverloadLimit(64, 200, 0);
    for (let n = 0; n < 20; n += 1) limit.overloaded(n * 100, 41 - n, n * 100);
    expect(askUntil(limit, 1_900, 21_899)).toBe(20);
    expect(askUntil(limit, 21_900, 22_150)).toBe(22);
  });

  it('waits no longer than 320 s', () => {
    const limit = new OverloadLimit(64, 200, 0);
    for (let at = 0; at < 1e7; at += 1e6) limit.overloaded(at, 41, at);
    expect(askUntil(limit, 9e6, 9e6 + 319_999)).toBe(38);
    expect(askUntil(limit, 9e6 + 320_000, 9e6 + 320_250)).toBe(41);
  });

  it('forgets overloads that were the beginning of an outage', () => {
    const limit = new OverloadLimit(64, 64, 0);
    limit.overloaded(0, 30, 10);
    limit.overloaded(20, 20, 30);
    limit.forgive();
    expect(limit.limitAt(40, false)).toBe(64);
  });

  it('keeps what was known before the outage', () => {
    const limit = new OverloadLimit(64, 64, 0);
    limit.overloaded(0, 41, 10);
    limit.overloaded(6_000, 11, 6_000);
    limit.overloaded(7_000, 6, 7_000);
    expect(limit.limitAt(7_000, true)).toBe(5);
    limit.forgive();
    // More than what was too much then is tried at once.
    expect(askUntil(limit, 7_250, 7_500)).toBe(41);
    limit.overloaded(8_001, 41, 8_001);
    expect(limit.limitAt(8_001, true)).toBe(38);
  });

  it('follows another maximum, down at once, and up where it stood at the old one', () => {
    const limit = new OverloadLimit(64, 64, 0);
    limit.setMax(10);
    expect(limit.limitAt(0, false)).toBe(10);
    limit.setMax(80);
    expect(limit.limitAt(0, false)).toBe(80);
    const low = new OverloadLimit(8, 64, 0);
    low.setMax(80);
    expect(low.limitAt(0, false)).toBe(8);
    low.overloaded(0, 41, 10);
    low.setMax(5);
    expect(low.limitAt(20, true)).toBe(5);
  });
});
