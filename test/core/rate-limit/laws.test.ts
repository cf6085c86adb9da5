import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { RateLimit } from '../../../src/core/rate-limit/rate-limit.ts';
import { RateLimits } from '../../../src/core/rate-limit/rate-limits.ts';
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
} from './scripts.ts';

const costPart = fc.integer({ min: 0, max: 100 });

describe.each(algorithms)('the wait for a %s', (algorithm) => {
  it('is enough, and not a moment too long', () => {
    fc.assert(
      fc.property(limitOf(algorithm, charges), script, costPart, (limit, steps, part) => {
        const limits = { only: limit };
        const { core, now } = play(limits, steps);
        const costs = core.costsOf(partOf(limits, part));
        const waitMs = core.wait(costs, now);
        expect(waitMs).toBeGreaterThanOrEqual(0);
        expect(core.wait(costs, now + waitMs)).toBe(0);
        if (waitMs === 0) return;
        expect(play(limits, steps).core.wait(costs, justBefore(now + waitMs))).toBeGreaterThan(0);
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
            asked.core.wait(asked.core.costsOf(partOf(limits, part)), asked.now);
          }
          expect(asked.core.usage(asked.now)).toEqual(silent.core.usage(silent.now));
        },
      ),
    );
  });
});

describe('limits together', () => {
  const playedAlone = (limits: Readonly<Record<string, RateLimit>>) =>
    Object.entries(limits).map(([name, limit]) => ({
      name,
      core: new RateLimits({ [name]: limit }),
    }));

  it('need the longest wait of any, and are charged all or none', () => {
    fc.assert(
      fc.property(anyLimits, plainScript, (limits, steps) => {
        const alone = playedAlone(limits);
        const { core, now } = play(limits, steps, {
          asked(cost, waitMs, at) {
            const waits = alone.map(({ name, core }) =>
              core.wait(core.costsOf({ [name]: cost[name] ?? 0 }), at),
            );
            expect(waitMs).toBe(Math.max(...waits));
          },
          took(cost, at) {
            for (const { name, core } of alone) {
              core.take(core.costsOf({ [name]: cost[name] ?? 0 }), at);
            }
          },
        });
        for (const { name, core: single } of alone) {
          expect(core.usage(now)[name]).toEqual(single.usage(now)[name]);
        }
      }),
      { numRuns: 500 },
    );
  });

  it('are bound by the one that needs the longest wait', () => {
    fc.assert(
      fc.property(anyLimits, plainScript, costPart, (limits, steps, part) => {
        const { core, now } = play(limits, steps);
        const costs = core.costsOf(partOf(limits, part));
        const waitMs = core.wait(costs, now);
        const binding = core.binding(costs, now);
        expect(binding === undefined).toBe(waitMs === 0);
        if (binding === undefined) return;
        const { [binding]: cost = 0 } = partOf(limits, part);
        expect(core.wait(core.costsOf({ [binding]: cost }), now)).toBe(waitMs);
      }),
    );
  });
});

describe('what ends a reservation', () => {
  it('a refund, restores what was there', () => {
    fc.assert(
      fc.property(anyLimit, script, costPart, (limit, steps, part) => {
        const limits = { only: limit };
        const { core, now } = play(limits, steps);
        const costs = core.costsOf(partOf(limits, part));
        const later = now + core.wait(costs, now);
        const before = core.usage(later).only;
        expect(core.refund(core.take(costs, later), later)).toBe(true);
        const after = core.usage(later).only;
        expect(after?.used).toBeCloseTo(before?.used ?? Number.NaN, 6);
        expect(after?.resetMs).toBeCloseTo(before?.resetMs ?? Number.NaN, 6);
        expect(core.wait(costs, later)).toBe(0);
      }),
    );
  });

  it('ends it once', () => {
    fc.assert(
      fc.property(anyLimits, script, costPart, fc.boolean(), (limits, steps, part, isRefund) => {
        const { core, now, reservations } = play(limits, steps);
        const costs = core.costsOf(partOf(limits, part));
        const last = core.take(costs, now + core.wait(costs, now));
        const at = now + 1e5;
        expect(isRefund ? core.refund(last, at) : core.settle(last, undefined, at)).toBe(true);
        for (const reservation of reservations) core.settle(reservation, undefined, at);
        const before = core.usage(at);
        for (const reservation of [...reservations, last]) {
          expect(core.settle(reservation, partOf(limits, 150), at)).toBe(false);
          expect(core.refund(reservation, at)).toBe(false);
        }
        expect(core.usage(at)).toEqual(before);
      }),
    );
  });

  it('of all, leaves nothing used when every one was refunded', () => {
    fc.assert(
      fc.property(anyLimit, plainScript, (limit, steps) => {
        const { core, now, reservations } = play({ only: limit }, steps);
        for (const reservation of reservations) core.refund(reservation, now);
        expect(core.usage(now).only).toMatchObject({ used: 0, resetMs: 0 });
      }),
    );
  });
});
