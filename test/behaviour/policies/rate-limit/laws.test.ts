import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { RateLimit } from '../../../../src/policies/rate-limit/rate-limit.ts';
import { RateLimits } from '../../../../src/policies/rate-limit/rate-limits.ts';
import {
  algorithms,
  anyLimit,
  anyLimits,
  charges,
  justBefore,
  limitOf,
  partOf,
  plainScript,
  play,
  script,
} from '../../../policies/rate-limit/scripts.ts';
import { costsOf } from '../../../support/costs-of.ts';

const costPart = fc.integer({ min: 0, max: 100 });

describe.each(algorithms)('the wait for a %s', (algorithm) => {
  it('is enough, and not a moment too long', () => {
    fc.assert(
      fc.property(limitOf(algorithm, charges), script, costPart, (limit, steps, part) => {
        const limits = { only: limit };
        const { policy, now } = play(limits, steps);
        const costs = costsOf(policy, partOf(limits, part));
        const waitMs = policy.wait(costs, now);
        expect(waitMs).toBeGreaterThanOrEqual(0);
        expect(policy.wait(costs, now + waitMs)).toBe(0);
        if (waitMs === 0) return;
        expect(play(limits, steps).policy.wait(costs, justBefore(now + waitMs))).toBeGreaterThan(0);
      }),
      { numRuns: 1000 },
    );
  });

  it('is as long for a request that was told to wait as if it had never asked', () => {
    fc.assert(
      fc.property(
        limitOf(algorithm, charges),
        script,
        fc.array(costPart),
        (limit, steps, parts) => {
          const limits = { only: limit };
          const asked = play(limits, steps);
          const silent = play(limits, steps);
          for (const part of parts) {
            asked.policy.wait(costsOf(asked.policy, partOf(limits, part)), asked.now);
          }
          expect(asked.policy.usage(asked.now)).toEqual(silent.policy.usage(silent.now));
        },
      ),
    );
  });
});

describe('limits together', () => {
  const playedAlone = (limits: Readonly<Record<string, RateLimit>>) =>
    Object.entries(limits).map(([name, limit]) => ({
      name,
      policy: new RateLimits({ [name]: limit }),
    }));

  it('need the longest wait of any, and are charged all or none', () => {
    fc.assert(
      fc.property(anyLimits, plainScript, (limits, steps) => {
        const alone = playedAlone(limits);
        const { policy, now } = play(limits, steps, {
          asked(cost, waitMs, at) {
            const waits = alone.map(({ name, policy }) =>
              policy.wait(costsOf(policy, { [name]: cost[name] ?? 0 }), at),
            );
            expect(waitMs).toBe(Math.max(...waits));
          },
          took(cost, at) {
            for (const { name, policy } of alone) {
              policy.take(costsOf(policy, { [name]: cost[name] ?? 0 }), at);
            }
          },
        });
        for (const { name, policy: single } of alone) {
          expect(policy.usage(now)[name]).toEqual(single.usage(now)[name]);
        }
      }),
      { numRuns: 500 },
    );
  });

  it('are bound by the one that needs the longest wait', () => {
    fc.assert(
      fc.property(anyLimits, plainScript, costPart, (limits, steps, part) => {
        const { policy, now } = play(limits, steps);
        const costs = costsOf(policy, partOf(limits, part));
        const waitMs = policy.wait(costs, now);
        const binding = policy.binding(costs, now);
        expect(binding === undefined).toBe(waitMs === 0);
        if (binding === undefined) return;
        const { [binding]: cost = 0 } = partOf(limits, part);
        expect(policy.wait(costsOf(policy, { [binding]: cost }), now)).toBe(waitMs);
      }),
    );
  });
});

describe('what ends a reservation', () => {
  it('a refund, restores what was there', () => {
    fc.assert(
      fc.property(anyLimit, script, costPart, (limit, steps, part) => {
        const limits = { only: limit };
        const { policy, now } = play(limits, steps);
        const costs = costsOf(policy, partOf(limits, part));
        const later = now + policy.wait(costs, now);
        const before = policy.usage(later).only;
        expect(policy.refund(policy.take(costs, later), later)).toBe(true);
        const after = policy.usage(later).only;
        expect(after?.used).toBeCloseTo(before?.used ?? Number.NaN, 6);
        expect(after?.resetMs).toBeCloseTo(before?.resetMs ?? Number.NaN, 6);
        expect(policy.wait(costs, later)).toBe(0);
      }),
    );
  });

  it('ends it once', () => {
    fc.assert(
      fc.property(anyLimits, script, costPart, fc.boolean(), (limits, steps, part, isRefund) => {
        const { policy, now, reservations } = play(limits, steps);
        const costs = costsOf(policy, partOf(limits, part));
        const last = policy.take(costs, now + policy.wait(costs, now));
        const at = now + 1e5;
        expect(isRefund ? policy.refund(last, at) : policy.settle(last, undefined, at)).toBe(true);
        for (const reservation of reservations) policy.settle(reservation, undefined, at);
        const before = policy.usage(at);
        for (const reservation of [...reservations, last]) {
          expect(policy.settle(reservation, partOf(limits, 150), at)).toBe(false);
          expect(policy.refund(reservation, at)).toBe(false);
        }
        expect(policy.usage(at)).toEqual(before);
      }),
    );
  });

  it('of all, leaves nothing used when every one was refunded', () => {
    fc.assert(
      fc.property(anyLimit, plainScript, (limit, steps) => {
        const { policy, now, reservations } = play({ only: limit }, steps);
        for (const reservation of reservations) policy.refund(reservation, now);
        expect(policy.usage(now).only).toMatchObject({ used: 0, resetMs: 0 });
      }),
    );
  });
});
