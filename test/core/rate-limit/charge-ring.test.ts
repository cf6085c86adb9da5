import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ChargeRing } from '../../../src/core/rate-limit/charge-ring.ts';

/** What a ring should hold: times and amounts in plain arrays. */
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

function filled(count: number, from = 0): ChargeRing {
  const ring = new ChargeRing();
  for (let time = from; time < from + count; time += 1) ring.add(1 + (time % 3), time);
  return ring;
}

describe('a charge ring', () => {
  it('finds the entry that makes up an amount, wherever the ring begins', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 5000 }),
        fc.nat(4999),
        fc.nat(6000),
        fc.array(fc.nat(1e6), { minLength: 1, maxLength: 20 }),
        (count, leave, add, amounts) => {
          const ring = filled(count);
          const plain = new Plain();
          for (let time = 0; time < count; time += 1) {
            plain.entries.push({ time, amount: 1 + (time % 3) });
          }
          for (let left = 0; left < Math.min(leave, count - 1); left += 1) {
            ring.shift();
            plain.entries.shift();
          }
          for (let time = count; time < count + add; time += 1) {
            ring.add(1 + (time % 2), time);
            plain.entries.push({ time, amount: 1 + (time % 2) });
          }
          expect(ring.total).toBe(plain.total);
          for (const amount of amounts) {
            const wanted = 1 + (amount % ring.total);
            expect(ring.timeOf(wanted)).toBe(plain.timeOf(wanted));
          }
          expect(ring.timeOf(ring.total)).toBe(ring.newest);
        },
      ),
    );
  });

  it('keeps what belongs to one time in one entry', () => {
    const ring = new ChargeRing();
    const entries = Array.from({ length: 1000 }, (_, index) => ring.add(1, index < 600 ? 3 : 4));
    expect(ring.length).toBe(2);
    expect(new Set(entries.slice(0, 600))).toEqual(new Set([0]));
    expect(ring.timeOf(600)).toBe(3);
    expect(ring.timeOf(601)).toBe(4);
  });

  it('has room for a few times what it holds, and gives it back', () => {
    const ring = filled(100_000);
    expect(ring.room).toBe(131_072);
    while (ring.length > 10_000) {
      ring.shift();
      ring.fit();
    }
    expect(ring.room).toBeLessThanOrEqual(40_000);
    expect(ring.oldest).toBe(90_000);
    expect(ring.timeOf(1)).toBe(90_000);
    while (ring.length > 0) ring.shift();
    ring.fit();
    expect(ring.room).toBe(16);
    expect(ring.total).toBe(0);
  });

  it('keeps its numbers when it grows, shrinks and goes round', () => {
    const ring = filled(3000);
    const last = ring.add(5, 1e6);
    for (let left = 0; left < 2900; left += 1) ring.shift();
    ring.fit();
    for (let time = 0; time < 5000; time += 1) ring.add(1, 2e6 + time);
    const before = ring.total;
    ring.remove(5, last);
    expect(ring.total).toBe(before - 5);
    ring.remove(5, 0);
    expect(ring.total).toBe(before - 5);
  });

  it('forgets the newest when nothing is left of them', () => {
    const ring = filled(3);
    const fourth = ring.add(7, 10);
    const fifth = ring.add(7, 11);
    ring.remove(7, fourth);
    expect(ring.newest).toBe(11);
    ring.remove(7, fifth);
    expect(ring.newest).toBe(2);
    expect(ring.length).toBe(3);
    expect(ring.add(1, 12)).toBe(fourth);
  });
});
