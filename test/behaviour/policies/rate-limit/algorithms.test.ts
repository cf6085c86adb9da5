import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { RateLimits } from '../../../../src/policies/rate-limit/rate-limits.ts';
import { type Entry, Oracle, shareWindow } from '../../../policies/rate-limit/oracle.ts';
import {
  charges,
  justBefore,
  limitOf,
  plainScript,
  play,
  script,
} from '../../../policies/rate-limit/scripts.ts';
import { costsOf } from '../../../support/costs-of.ts';
import { holds } from '../../../support/holds.ts';

describe('a sliding window', () => {
  const sliding = limitOf('sliding-window', charges);

  it('agrees with a log that is summed anew each time', () => {
    fc.assert(
      fc.property(sliding, script, (limit, steps) => {
        const oracle = new Oracle(limit);
        const entries: Entry[] = [];
        const isLate = limit.charge === 'actual';
        const { policy, now } = play({ only: limit }, steps, {
          asked({ only: cost = 0 }, waitMs, at) {
            const needed = isLate ? 0 : cost;
            holds(oracle.fits(needed, at + waitMs), at, waitMs);
            holds(waitMs === 0 || !oracle.fits(needed, justBefore(at + waitMs)), at, waitMs);
          },
          took({ only: cost = 0 }, at) {
            entries.push(oracle.charge(isLate ? 0 : cost, at));
          },
          settled(request, { only: actual = 0 }, at) {
            const entry = entries[request];
            if (limit.charge === 'upfront' || entry === undefined) return;
            if (actual > entry.amount) oracle.charge(actual - entry.amount, at, true);
            else entry.amount = actual;
          },
          refunded(request) {
            const entry = entries[request];
            if (entry !== undefined) entry.amount = 0;
          },
        });
        expect(policy.usage(now).only?.used).toBe(oracle.used(now));
        expect(oracle.fullest()).toBeLessThanOrEqual(limit.limit);
      }),
      { numRuns: 2000 },
    );
  });

  it('holds for a long run whose times cannot be stored exactly', () => {
    const limit = { limit: 7, windowMs: 0.7 + 1 };
    const policy = new RateLimits({ only: limit });
    const oracle = new Oracle(limit);
    const one = costsOf(policy, { only: 1 });
    let now = 0.1;
    for (let count = 0; count < 3000; count += 1) {
      now += policy.wait(one, now);
      expect(oracle.fits(1, now)).toBe(true);
      policy.take(one, now);
      oracle.entries.splice(0, Math.max(0, oracle.entries.length - 20));
      oracle.charge(1, now);
      now += 0.1;
    }
  });
});

describe('a token bucket', () => {
  it('lets at most the burst and the refill pass in any interval', () => {
    fc.assert(
      fc.property(limitOf('token-bucket'), plainScript, (limit, steps) => {
        const passed: { amount: number; at: number }[] = [];
        play({ only: limit }, steps, {
          took({ only: amount = 0 }, at) {
            passed.push({ amount, at });
          },
        });
        const { burst = limit.limit } = limit;
        passed.forEach((first, index) => {
          let sum = 0;
          for (const { amount, at } of passed.slice(index)) {
            sum += amount;
            const refill = ((at - first.at) * limit.limit) / limit.windowMs;
            holds(sum <= (burst + refill) * (1 + 1e-12), sum, burst, refill);
          }
        });
      }),
    );
  });

  it('has never less than nothing in use, just before it is full either', () => {
    for (let limit = 1; limit <= 100; limit += 1) {
      const policy = new RateLimits({ only: { limit, windowMs: 7, algorithm: 'token-bucket' } });
      const amount = Math.ceil(limit * 0.6);
      policy.take(costsOf(policy, { only: amount }), 0.1);
      const fullAt = 0.1 + (policy.usage(0.1).only?.resetMs ?? 0);
      const used = policy.usage(fullAt - fullAt * 0.75 * Number.EPSILON).only?.used;
      expect(used).toBeGreaterThanOrEqual(0);
      expect(used).toBeLessThan(1e-6);
    }
  });

  it('lets exactly its rate pass however long it is busy', () => {
    const policy = new RateLimits({
      only: { limit: 3, windowMs: 1000, algorithm: 'token-bucket' },
    });
    const one = costsOf(policy, { only: 1 });
    let now = 0;
    for (let count = 0; count < 300_003; count += 1) {
      now += policy.wait(one, now);
      policy.take(one, now);
    }
    expect(now).toBeCloseTo(100_000_000, 3);
  });
});

describe('a fixed window', () => {
  it('agrees with windows that begin with their first charge and are counted by hand', () => {
    fc.assert(
      fc.property(limitOf('fixed-window'), plainScript, (limit, steps) => {
        let startedAt = -1e6;
        let used = 0;
        const turn = (at: number) => {
          if (shareWindow(startedAt, at, limit.windowMs)) return;
          startedAt = at;
          used = 0;
        };
        play({ only: limit }, steps, {
          took({ only: amount = 0 }, at) {
            if (amount > 0) turn(at);
            used += amount;
            holds(used <= limit.limit, used);
          },
          asked({ only: cost = 0 }, waitMs, at) {
            const isOver = !shareWindow(startedAt, at, limit.windowMs);
            const isFree = isOver || used + cost <= limit.limit;
            holds((waitMs === 0) === isFree, waitMs);
            if (!isFree) expect(at + waitMs).toBeCloseTo(startedAt + limit.windowMs, 3);
          },
        });
      }),
    );
  });
});
