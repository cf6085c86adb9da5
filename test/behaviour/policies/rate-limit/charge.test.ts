import { describe, expect, it } from 'vitest';
import type { RateLimit } from '../../../../src/policies/rate-limit/rate-limit.ts';
import { RateLimits } from '../../../../src/policies/rate-limit/rate-limits.ts';
import { algorithms } from '../../../policies/rate-limit/scripts.ts';
import { changeLimits } from '../../../support/change-limits.ts';
import { costsOf } from '../../../support/costs-of.ts';

const only = (limit: Partial<RateLimit>) =>
  new RateLimits({ only: { limit: 100, windowMs: 1000, ...limit } });

const used = (limits: RateLimits, now: number) => limits.usage(now).only?.used;

describe.each(algorithms)('a %s', (algorithm) => {
  it.each([
    { charge: 'upfront', taken: 60, less: 60, more: 60, unknown: 60 },
    { charge: 'settle', taken: 60, less: 20, more: 130, unknown: 60 },
    { charge: 'actual', taken: 0, less: 20, more: 130, unknown: 60 },
  ] as const)('with charge: $charge counts the estimate or the actual', (row) => {
    for (const [actual, expected] of [
      [{ only: 20 }, row.less],
      [{ only: 130 }, row.more],
      [undefined, row.unknown],
      [{}, row.unknown],
    ] as const) {
      const limits = only({ algorithm, charge: row.charge });
      const reservation = limits.take(costsOf(limits, { only: 60 }), 0);
      expect(used(limits, 0)).toBe(row.taken);
      expect(limits.settle(reservation, actual, 0)).toBe(true);
      expect(used(limits, 0)).toBe(expected);
    }
  });

  it('charges what was sent before limits changed by the rule of that time', () => {
    const limits = only({ algorithm, charge: 'actual' });
    const [due, free] = [60, 0].map((cost) => limits.take(costsOf(limits, { only: cost }), 0));
    changeLimits(limits, { only: { limit: 100, windowMs: 1000, algorithm, charge: 'settle' } }, 0);
    const reserved = limits.take(costsOf(limits, { only: 5 }), 0);
    expect([due, free, reserved].map((one) => one && limits.conclude(one))).toEqual([
      false,
      true,
      true,
    ]);
    if (due) limits.settle(due, undefined, 0);
    expect(used(limits, 0)).toBe(65);
  });

  it('makes all requests wait while in debt, even those without cost', () => {
    const limits = only({ algorithm, charge: 'settle' });
    limits.settle(limits.take(costsOf(limits, { only: 60 }), 0), { only: 130 }, 100);
    expect(limits.usage(100).only).toMatchObject({ available: 0 });
    const free = costsOf(limits, {});
    const waitMs = limits.wait(free, 100);
    expect(waitMs).toBeGreaterThan(0);
    expect(limits.binding(free, 100)).toBe('only');
    expect(limits.wait(free, 100 + waitMs)).toBe(0);
  });

  it('gives back to each of many limits what it was charged, and nothing that others were', () => {
    const names = ['a', 'b', 'c', 'd', 'e'];
    const rule: RateLimit = { limit: 100, windowMs: 1000, algorithm, charge: 'settle' };
    const [limits, twin] = [1, 2].map(() => {
      const made = new RateLimits(Object.fromEntries(names.map((name) => [name, rule])));
      // Each has been charged once more often than the one before.
      names.forEach((_, index) => {
        const cost = Object.fromEntries(names.slice(index).map((name) => [name, 1]));
        made.take(costsOf(made, cost), index);
      });
      return made;
    }) as [RateLimits, RateLimits];
    const all = Object.fromEntries(names.map((name, index) => [name, 10 + index]));
    const refunded = limits.take(costsOf(limits, all), 10);
    const settled = limits.take(costsOf(limits, all), 11);
    const between = limits.usage(12);
    expect(limits.refund(refunded, 12)).toBe(true);
    names.forEach((name, index) => {
      const given = (between[name]?.used ?? 0) - (limits.usage(12)[name]?.used ?? 0);
      expect([name, given]).toEqual([name, 10 + index]);
    });
    expect(limits.settle(settled, Object.fromEntries(names.map((name) => [name, 0])), 12)).toBe(
      true,
    );
    for (const name of names) {
      expect(limits.usage(12)[name]?.used).toBeCloseTo(twin.usage(12)[name]?.used ?? Number.NaN);
    }
  });

  it('lets a request of any estimate pass when it charges the actual, unless in debt', () => {
    const limits = only({ algorithm, charge: 'actual' });
    const huge = costsOf(limits, { only: 1e6 });
    const reservation = limits.take(huge, 0);
    expect(limits.wait(huge, 0)).toBe(0);
    limits.settle(reservation, { only: 101 }, 0);
    expect(limits.wait(huge, 0)).toBeGreaterThan(0);
    const refunded = limits.take(huge, 1);
    const before = limits.usage(1);
    expect(limits.refund(refunded, 1)).toBe(true);
    expect(limits.usage(1)).toEqual(before);
  });

  it('does not give back what it has forgotten', () => {
    const limits = only({ algorithm, charge: 'settle' });
    const early = limits.take(costsOf(limits, { only: 60 }), 0);
    const alsoEarly = limits.take(costsOf(limits, { only: 40 }), 0);
    limits.take(costsOf(limits, { only: 50 }), 5000);
    const before = limits.usage(5000).only?.available ?? Number.NaN;
    limits.refund(early, 5000);
    limits.settle(alsoEarly, { only: 0 }, 5000);
    const given = algorithm === 'token-bucket' ? 50 : 0;
    expect(limits.usage(5000).only?.available).toBe(before + given);
  });

  it('goes on with another limit and keeps what is used', () => {
    const limits = only({ algorithm });
    const cost = (amount: number) => costsOf(limits, { only: amount });
    limits.take(cost(100), 0);
    expect(limits.wait(cost(50), 0)).toBeGreaterThan(0);
    changeLimits(limits, { only: { limit: 150, windowMs: 1000, algorithm } }, 0);
    expect(limits.wait(cost(50), 0)).toBe(0);
    const ninety = cost(90);
    changeLimits(limits, { only: { limit: 80, windowMs: 1000, algorithm } }, 0);
    expect(limits.usage(0).only).toMatchObject({ limit: 80, used: 100, available: 0 });
    expect(limits.wait(cost(0), 0)).toBeGreaterThan(0);
    expect(limits.wait(cost(80), 0)).toBeLessThanOrEqual(1250);
    expect(limits.wait(ninety, 0)).toBe(Number.POSITIVE_INFINITY);
    expect(limits.binding(ninety, 0)).toBe('only');
    expect(limits.aboveLimit(ninety)).toMatchObject({ cost: 90, maxCost: 80 });
    expect(limits.refusal(ninety, 0)).toMatchObject({ code: 'COST_ABOVE_LIMIT' });
  });

  it('goes on with another window', () => {
    const limits = only({ algorithm });
    const all = costsOf(limits, { only: 100 });
    limits.take(all, 0);
    changeLimits(limits, { only: { limit: 100, windowMs: 3000, algorithm } }, 0);
    expect(limits.wait(all, 0)).toBe(3000);
    changeLimits(limits, { only: { limit: 100, windowMs: 400, algorithm } }, 100);
    const soon = algorithm === 'token-bucket' ? 400 * (29 / 30) : 300;
    expect(limits.wait(all, 100)).toBeCloseTo(soon, 6);
    changeLimits(limits, { only: { limit: 100, windowMs: 10_000, algorithm } }, 5000);
    expect(limits.usage(5000).only).toMatchObject({ used: 0, resetMs: 0 });
  });
});

describe('a sliding window', () => {
  it.each([
    { windowMs: 400, counts: [100, 0, 0, 0] },
    { windowMs: 1000, counts: [100, 100, 0, 0] },
    { windowMs: 3000, counts: [100, 100, 100, 0] },
  ])('of $windowMs ms from now on counts what is in it for as long', ({ windowMs, counts }) => {
    const limits = only({});
    limits.take(costsOf(limits, { only: 100 }), 0);
    changeLimits(limits, { only: { limit: 100, windowMs } }, 0);
    expect([399, 999, 2999, 3000].map((at) => used(limits, at))).toEqual(counts);
  });

  it('keeps only charges of its window, even if no request asks', () => {
    const limits = new RateLimits({ only: { limit: 100, windowMs: 10 } });
    const one = costsOf(limits, { only: 1 });
    const before = process.memoryUsage().arrayBuffers;
    for (let at = 0; at < 200_000; at += 1) limits.take(one, at);
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(1e6);
  });

  it('corrects a charge where it stands and adds to it where we are', () => {
    const limits = only({ charge: 'settle' });
    const first = limits.take(costsOf(limits, { only: 30 }), 0);
    const second = limits.take(costsOf(limits, { only: 30 }), 100);
    limits.settle(first, { only: 10 }, 400);
    limits.settle(second, { only: 50 }, 500);
    const usedAt = [500, 999, 1000, 1099, 1100, 1499, 1500].map((at) => used(limits, at));
    expect(usedAt).toEqual([60, 60, 50, 50, 20, 20, 0]);
  });

  it('is free as soon as the last charge that still counts has left', () => {
    const limits = only({});
    limits.take(costsOf(limits, { only: 10 }), 0);
    limits.refund(limits.take(costsOf(limits, { only: 10 }), 600), 700);
    expect(limits.usage(700).only).toMatchObject({ used: 10, resetMs: 300 });
  });
});

describe('a token bucket', () => {
  const bucket = () => only({ algorithm: 'token-bucket', burst: 20 });

  it('lets the burst pass at once and then one each windowMs / limit', () => {
    const limits = bucket();
    const one = costsOf(limits, { only: 1 });
    let now = 50;
    const passedAt = Array.from({ length: 23 }, () => {
      now += limits.wait(one, now);
      limits.take(one, now);
      return now;
    });
    expect(passedAt.slice(18)).toEqual([50, 50, 60, 70, 80]);
    expect(limits.usage(80).only).toEqual({ limit: 100, used: 20, available: 0, resetMs: 200 });
  });

  it('holds no more than its burst, however long it was idle', () => {
    const limits = bucket();
    expect(limits.usage(1e9).only?.available).toBe(20);
    limits.refund(limits.take(costsOf(limits, { only: 5 }), 1e9), 1e9 + 20);
    expect(limits.usage(1e9 + 20).only?.available).toBe(20);
    expect(() => costsOf(limits, { only: 21 })).toThrow('takes 20 at most');
  });

  it('takes another burst at once', () => {
    const limits = bucket();
    limits.take(costsOf(limits, { only: 20 }), 0);
    const size = { limit: 100, windowMs: 1000, algorithm: 'token-bucket' } as const;
    changeLimits(limits, { only: { ...size, burst: 30 } }, 0);
    expect(limits.usage(0).only).toMatchObject({ used: 20, available: 10 });
  });
});

describe('a fixed window', () => {
  const fixed = () => only({ algorithm: 'fixed-window' });

  it('begins with the first charge after the last one ended', () => {
    const limits = fixed();
    const all = costsOf(limits, { only: 100 });
    limits.take(all, 700);
    expect(limits.wait(all, 800)).toBe(900);
    limits.take(all, 2500);
    expect(limits.wait(all, 2600)).toBe(900);
  });

  it('has not begun when all that it held was given back', () => {
    const limits = fixed();
    const all = costsOf(limits, { only: 100 });
    const first = limits.take(all, 0);
    limits.refund(first, 500);
    limits.take(all, 600);
    expect(limits.wait(all, 1000)).toBe(600);
  });
});

describe('other limits', () => {
  it('stay as they are when one is configured', () => {
    const limits = new RateLimits({
      requests: { limit: 1, windowMs: 1000 },
      tokens: { limit: 10, windowMs: 1000 },
    });
    limits.take(costsOf(limits, { requests: 1, tokens: 10 }), 0);
    changeLimits(limits, { tokens: { limit: 20, windowMs: 1000 } }, 0);
    const { requests, tokens } = limits.usage(0);
    expect(requests).toMatchObject({ limit: 1, used: 1 });
    expect(tokens).toMatchObject({ limit: 20, used: 10, available: 10 });
  });

  it('are settled each in its own way', () => {
    const limits = new RateLimits({
      requests: { limit: 10, windowMs: 1000 },
      input: { limit: 100, windowMs: 1000, charge: 'settle' },
      output: { limit: 100, windowMs: 1000, charge: 'actual' },
    });
    const reservation = limits.take(costsOf(limits, { requests: 1, input: 50, output: 90 }), 0);
    limits.settle(reservation, { requests: 5, input: 40, output: 20 }, 10);
    const counts = Object.values(limits.usage(10)).map((usage) => usage.used);
    expect(counts).toEqual([1, 40, 20]);
  });
});
