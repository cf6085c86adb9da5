import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ConcurrencyPolicy } from '../../src/policies/concurrency-policy.ts';
import { holds } from '../support/holds.ts';
import { runs } from '../support/runs.ts';
import { demand, modeUntil } from '../support/waiter.ts';

const NOW = 1_000;
const THROTTLED = modeUntil(NOW + 500);
const INFINITY = Number.POSITIVE_INFINITY;

function takeAll(slots: ConcurrencyPolicy, now: number): number[] {
  const charges: number[] = [];
  while (slots.wait(demand(), now) === 0) charges.push(slots.take(demand(), now));
  return charges;
}

describe('Slots in normal mode', () => {
  it('admits as many as the limit, and one more for each given back', () => {
    const slots = new ConcurrencyPolicy(3, 1);
    const charges = takeAll(slots, NOW);
    expect(charges).toHaveLength(3);
    expect(slots.wait(demand(), NOW)).toBe(INFINITY);
    slots.giveBack(charges[0] as number);
    expect(slots.wait(demand(), NOW)).toBe(0);
    expect(takeAll(slots, NOW)).toHaveLength(1);
  });

  it('takes no throttled slot', () => {
    const slots = new ConcurrencyPolicy(3, 1, modeUntil(NOW));
    takeAll(slots, NOW);
    expect(slots.snapshot()).toEqual({
      limit: 3,
      inFlight: 3,
      throttledLimit: 1,
      throttledInFlight: 0,
    });
  });
});

describe('Slots in throttled mode', () => {
  it('admit the throttled number, and the next one when the mode ends', () => {
    const slots = new ConcurrencyPolicy(400, 10, THROTTLED);
    expect(takeAll(slots, NOW)).toHaveLength(10);
    expect(slots.wait(demand(), NOW)).toBe(500);
    expect(slots.wait(demand(), NOW + 499)).toBe(1);
    expect(slots.wait(demand(), NOW + 500)).toBe(0);
  });

  it('are bounded by the limit too', () => {
    const slots = new ConcurrencyPolicy(4, 10, THROTTLED);
    expect(takeAll(slots, NOW)).toHaveLength(4);
    expect(slots.wait(demand(), NOW)).toBe(INFINITY);
  });

  it('do not count those that were admitted before', () => {
    const mode = { throttledUntil: 0 };
    const slots = new ConcurrencyPolicy(400, 10, mode);
    for (let taken = 0; taken < 50; taken += 1) slots.take(demand(), NOW);
    mode.throttledUntil = NOW + 500;
    expect(takeAll(slots, NOW)).toHaveLength(10);
    expect(slots.inFlight).toBe(60);
  });

  it('give back what was taken, whatever the mode is by then', () => {
    const mode = { throttledUntil: 0 };
    const slots = new ConcurrencyPolicy(400, 10, mode);
    const before = slots.take(demand(), NOW);
    mode.throttledUntil = NOW + 500;
    const during = slots.take(demand(), NOW);
    slots.giveBack(before);
    expect(slots).toMatchObject({ inFlight: 1, throttledInFlight: 1 });
    mode.throttledUntil = 0;
    slots.giveBack(during);
    expect(slots).toMatchObject({ inFlight: 0, throttledInFlight: 0 });
  });
});

describe('the limit of Slots', () => {
  it('admits nobody after it was lowered, until fewer are in flight', () => {
    const slots = new ConcurrencyPolicy(5, 10);
    const charges = takeAll(slots, NOW);
    slots.limit = 2;
    for (const charge of charges.slice(0, 3)) {
      expect(slots.wait(demand(), NOW)).toBe(INFINITY);
      slots.giveBack(charge);
    }
    expect(slots.inFlight).toBe(2);
    expect(slots.wait(demand(), NOW)).toBe(INFINITY);
    slots.giveBack(charges[3] as number);
    expect(slots.wait(demand(), NOW)).toBe(0);
  });

  it('admits as many more as it was raised by', () => {
    const slots = new ConcurrencyPolicy(2, 10);
    takeAll(slots, NOW);
    slots.limit = 7;
    expect(takeAll(slots, NOW)).toHaveLength(5);
  });

  it('holds in every script of takes, returns, modes and limits', () => {
    const step = fc.record({
      what: fc.constantFrom('take', 'return', 'throttle', 'limit'),
      number: fc.nat(12),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
        const mode = { throttledUntil: 0 };
        const slots = new ConcurrencyPolicy(4, 2, mode);
        const held: { charge: number; throttled: boolean }[] = [];
        steps.forEach(({ what, number }, now) => {
          if (what === 'throttle') mode.throttledUntil = now + number;
          if (what === 'limit') slots.limit = 1 + number;
          if (what === 'return' && held.length > 0) {
            const [lease] = held.splice(number % held.length, 1);
            slots.giveBack((lease as { charge: number }).charge);
          }
          if (what === 'take' && slots.wait(demand(), now) === 0) {
            held.push({ charge: slots.take(demand(), now), throttled: now < mode.throttledUntil });
            holds(held.length <= slots.limit, held.length, slots.limit);
            const throttled = held.filter((lease) => lease.throttled).length;
            holds(now >= mode.throttledUntil || throttled <= 2, throttled);
          }
          const throttled = held.filter((lease) => lease.throttled).length;
          holds(slots.inFlight === held.length, slots.inFlight, held.length);
          holds(slots.throttledInFlight === throttled, slots.throttledInFlight, throttled);
        });
      }),
      { numRuns: runs(300) },
    );
  });
});
