import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ChargeLog } from '../../../src/policies/rate-limit/charge-log.ts';

/** What a log should hold: times and amounts in plain arrays. */
class Plain {
  entries: { time: number; amount: number }[] = [];

  timeOf(amount: number): number | undefined {
    let sum = 0;
    return this.entries.find((entry) => {
      sum += entry.amount;
      return sum >= amount;
    })?.time;
  }

  get total(): number {
    return this.entries.reduce((sum, { amount }) => sum + amount, 0);
  }
}

function filled(count: number, from = 0): ChargeLog {
  const log = new ChargeLog();
  for (let time = from; time < from + count; time += 1) log.add(1 + (time % 3), time);
  return log;
}

describe('a charge log', () => {
  it('finds the entry that makes up an amount, wherever the log begins', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 5000 }),
        fc.nat(4999),
        fc.nat(6000),
        fc.array(fc.nat(1e6), { minLength: 1, maxLength: 20 }),
        (count, leave, add, amounts) => {
          const log = filled(count);
          const plain = new Plain();
          for (let time = 0; time < count; time += 1) {
            plain.entries.push({ time, amount: 1 + (time % 3) });
          }
          for (let left = 0; left < Math.min(leave, count - 1); left += 1) {
            log.shift();
            plain.entries.shift();
          }
          for (let time = count; time < count + add; time += 1) {
            log.add(1 + (time % 2), time);
            plain.entries.push({ time, amount: 1 + (time % 2) });
          }
          expect(log.total).toBe(plain.total);
          for (const amount of amounts) {
            const wanted = 1 + (amount % log.total);
            expect(log.timeOf(wanted)).toBe(plain.timeOf(wanted));
          }
          expect(log.timeOf(log.total)).toBe(log.newest);
        },
      ),
    );
  });

  it('keeps what belongs to one time in one entry', () => {
    const log = new ChargeLog();
    const entries = Array.from({ length: 1000 }, (_, index) => log.add(1, index < 600 ? 3 : 4));
    expect(log.length).toBe(2);
    expect(new Set(entries.slice(0, 600))).toEqual(new Set([0]));
    expect(log.timeOf(600)).toBe(3);
    expect(log.timeOf(601)).toBe(4);
  });

  it('has little more room than it needs, and gives it back', () => {
    const log = filled(100_000);
    expect(log.room).toBe(100_352);
    while (log.length > 10_000) {
      log.shift();
      log.fit();
    }
    expect(log.room).toBeLessThanOrEqual(12_000);
    expect(log.oldest).toBe(90_000);
    expect(log.timeOf(1)).toBe(90_000);
    while (log.length > 0) log.shift();
    log.fit();
    expect(log.room).toBe(16);
    expect(log.total).toBe(0);
  });

  it('keeps its numbers when it grows and shrinks', () => {
    const log = filled(3000);
    const last = log.add(5, 1e6);
    for (let left = 0; left < 2900; left += 1) log.shift();
    log.fit();
    for (let time = 0; time < 5000; time += 1) log.add(1, 2e6 + time);
    const before = log.total;
    log.remove(5, last);
    expect(log.total).toBe(before - 5);
    log.remove(5, 0);
    expect(log.total).toBe(before - 5);
  });

  it('forgets the newest when nothing is left of them', () => {
    const log = filled(3);
    const fourth = log.add(7, 10);
    const fifth = log.add(7, 11);
    log.remove(7, fourth);
    expect(log.newest).toBe(11);
    log.remove(7, fifth);
    expect(log.newest).toBe(2);
    expect(log.length).toBe(3);
    expect(log.add(1, 12)).toBe(fourth);
  });

  it('needs no more room for few, however many come and go', () => {
    const log = filled(10);
    for (let time = 10; time < 10_000; time += 1) {
      log.shift();
      log.add(1, time);
      expect(log.room).toBeLessThanOrEqual(32);
      expect(log.timeOf(1)).toBe(time - 9);
    }
    expect(log.total).toBe(10);
  });

  it('gives back the room of those that were taken back', () => {
    const log = filled(5000);
    const entries = Array.from({ length: 4990 }, (_, index) => index + 10).reverse();
    for (const entry of entries) log.remove(1 + (entry % 3), entry);
    expect(log.length).toBe(10);
    expect(log.newest).toBe(9);
    log.fit();
    expect(log.room).toBe(32);
    expect(log.add(1, 6000)).toBe(10);
    expect(log.timeOf(log.total)).toBe(6000);
  });
});
