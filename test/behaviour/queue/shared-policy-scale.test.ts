import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { sharedPolicyRig } from '../../queue/shared-policy-rig.ts';
import { runs } from '../../support/runs.ts';

describe('many gates that share limits', () => {
  it('pass 10,000 that end at once without recursion', () => {
    const { enter, end, slots, order, clock } = sharedPolicyRig({ slots: 1 });
    const first = enter('x');
    let depth = 0;
    let deepest = 0;
    const onPass = (request: ReturnType<typeof enter>) => {
      depth += 1;
      deepest = Math.max(deepest, depth);
      end(request);
      depth -= 1;
    };
    for (let key = 0; key < 10_000; key += 1) enter(`k${key}:`, { onPass });
    end(first);
    expect(order).toHaveLength(10_001);
    expect(deepest).toBe(1);
    expect(slots.inFlight).toBe(0);
    expect(clock.pendingTimers).toBe(0);
  });

  it('pass those that go on to another key without recursion', () => {
    const { enter, end, order } = sharedPolicyRig({ slots: 1 });
    const first = enter('x');
    let left = 10_000;
    let depth = 0;
    const onPass = (request: ReturnType<typeof enter>) => {
      depth += 1;
      expect(depth).toBeLessThan(5);
      left -= 1;
      if (left > 0) enter(`k${left % 7}:`, { onPass });
      end(request);
      depth -= 1;
    };
    enter('k0:', { onPass });
    end(first);
    expect(order).toHaveLength(10_001);
  });

  it('ask as often for a request, however many there are', () => {
    const asked = (count: number) => {
      const { enter, end, closing, clock, order } = sharedPolicyRig({
        slots: 2,
        bytesPerSecond: 100,
      });
      for (let key = 0; key < count; key += 1) {
        for (let n = 0; n < 3; n += 1) enter(`k${key}:`, { bytes: 1 + (key % 3), onPass: end });
      }
      clock.runAll({ maxMs: 1e9 });
      expect(order).toHaveLength(3 * count);
      return closing.asked / order.length;
    };
    expect(asked(3_000)).toBeLessThan(1.2 * asked(300));
    expect(asked(3_000)).toBeLessThan(3);
  });

  it('ask only the one whose turn it is when something is given back', () => {
    const { enter, end, closing } = sharedPolicyRig({ slots: 1 });
    const first = enter('x');
    for (let key = 0; key < 1_000; key += 1) enter(`k${key}:`);
    const before = closing.asked;
    end(first);
    expect(closing.asked - before).toBeLessThanOrEqual(3);
  });
});

describe('what two gates let pass while both have waiters', () => {
  it('differs by at most 2 x the largest cost, by whatever limit they wait', () => {
    const costs = fc.array(fc.integer({ min: 1, max: 20 }), { minLength: 50, maxLength: 50 });
    const shared = fc.constantFrom({ slots: 1 }, { slots: 3 }, { bytesPerSecond: 20 });
    let widestShare = 0;
    const law = fc.property(costs, costs, shared, (ofA, ofB, options) => {
      const { enter, end, clock, closing } = sharedPolicyRig(options);
      closing.untilMs = 100;
      enter('c', { bytes: 20, onPass: end });
      const served = { a: 0, b: 0 };
      const left = { a: ofA.length, b: ofB.length };
      let least = 0;
      let most = 0;
      const come = (key: 'a' | 'b', bytes: number) =>
        enter(key, {
          bytes,
          onPass: (request) => {
            if (left.a > 0 && left.b > 0) {
              served[key] += bytes;
              least = Math.min(least, served.a - served.b);
              most = Math.max(most, served.a - served.b);
            }
            left[key] -= 1;
            clock.setTimer(() => end(request), bytes * 7);
          },
        });
      for (const bytes of ofA) come('a', bytes);
      for (const bytes of ofB) come('b', bytes);
      clock.runAll();
      expect(left).toEqual({ a: 0, b: 0 });
      expect(most - least).toBeLessThanOrEqual(2 * 20);
      widestShare = Math.max(widestShare, (most - least) / 40);
    });
    fc.assert(law, { numRuns: runs(100) });
    expect(widestShare).toBeGreaterThan(0.3);
  });
});
