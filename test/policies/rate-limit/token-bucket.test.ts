import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { addToQuota } from '../../../src/limiter/set-limits.ts';
import { RateLimits } from '../../../src/policies/rate-limit/rate-limits.ts';
import { RateLimitPolicy } from '../../../src/policies/rate-limit-policy.ts';
import { changeLimits } from '../../support/change-limits.ts';
import { costsOf } from '../../support/costs-of.ts';

const INFINITE = Number.POSITIVE_INFINITY;
const quota = (limit: number, more = {}) =>
  new RateLimits({ credits: { limit, windowMs: INFINITE, ...more } });

/** Makes more credits available. */
function add(limits: RateLimits, amount: number): void {
  const rules = { onLimit: 'wait', refundRejected: false } as const;
  addToQuota(new RateLimitPolicy(limits, rules, () => {}), 'credits', amount, 0);
}

describe('a quota', () => {
  it('is used up for good: time gives nothing back', () => {
    const limits = quota(10);
    limits.take(costsOf(limits, { credits: 7 }), 0);
    expect(limits.wait(costsOf(limits, { credits: 3 }), 1e12)).toBe(0);
    expect(limits.wait(costsOf(limits, { credits: 4 }), 1e12)).toBe(INFINITE);
    expect(limits.usage(1e12)).toEqual({
      credits: { limit: 10, used: 7, available: 3, resetMs: INFINITE },
    });
    expect(limits.refusal(costsOf(limits, { credits: 4 }), 5)).toMatchObject({
      code: 'RATE_LIMIT_EXCEEDED',
      retryAfterMs: INFINITE,
      message:
        'the rate limit "credits" has 3 left of the 4 that are needed; time does not refill it',
    });
    expect(() => costsOf(limits, { credits: 11 })).toThrow('can never pass');
  });

  it('has more when more is added, above its limit too', () => {
    const limits = quota(10, { initial: 0 });
    expect(limits.usage(0).credits).toMatchObject({ used: 10, available: 0 });
    add(limits, 4);
    expect(limits.usage(0).credits).toMatchObject({ limit: 10, used: 6, available: 4 });
    add(limits, 16);
    expect(limits.usage(0).credits).toMatchObject({ limit: 20, used: 0, available: 20 });
    expect(limits.wait(costsOf(limits, { credits: 20 }), 0)).toBe(0);
  });

  it('says nothing of a rate', () => {
    expect(quota(10).perSecond('credits')).toBeUndefined();
  });

  it.each([
    [{ limit: 5, windowMs: INFINITE, algorithm: 'fixed-window' }, 'limits.x.algorithm'],
    [{ limit: 5, windowMs: INFINITE, burst: 3 }, 'limits.x.burst'],
    [{ limit: 5, windowMs: INFINITE, initial: 6 }, 'limits.x.initial'],
    [{ limit: 5, windowMs: INFINITE, initial: -1 }, 'limits.x.initial'],
    [{ limit: 5, windowMs: 10, initial: Number.NaN }, 'limits.x.initial'],
  ])('refuses %o by name', (wrong, name) => {
    expect(() => new RateLimits({ x: wrong as never })).toThrow(`\`${name}\``);
  });

  it('is a balance, whatever is charged, settled, refunded and added (generated)', () => {
    const step = fc.record({
      do: fc.constantFrom('take', 'settle', 'refund', 'add', 'charge', 'resize'),
      amount: fc.nat(12),
      pick: fc.nat(),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), fc.nat(10), (steps, initial) => {
        const limits = quota(10, { initial, charge: 'settle' });
        let balance = initial;
        let limit = 10;
        const open: { cost: number; reservation: ReturnType<RateLimits['take']> }[] = [];
        for (const { do: what, amount, pick } of steps) {
          const at = pick % (open.length || 1);
          if (what === 'take' && amount <= limit) {
            const costs = costsOf(limits, { credits: amount });
            expect(limits.wait(costs, 0)).toBe(amount <= balance ? 0 : INFINITE);
            if (amount > balance) continue;
            balance -= amount;
            open.push({ cost: amount, reservation: limits.take(costs, 0) });
          } else if (what === 'settle' || what === 'refund') {
            const one = open.splice(at, 1)[0];
            if (one === undefined) continue;
            if (what === 'refund') limits.refund(one.reservation, 0);
            else limits.settle(one.reservation, { credits: amount }, 0);
            balance += one.cost - (what === 'refund' ? 0 : amount);
          } else if (what === 'add') {
            add(limits, amount);
            balance += amount;
            limit = Math.max(limit, balance);
          } else if (what === 'charge') {
            limits.charge({ credits: amount }, 0);
            balance -= amount;
          } else if (what === 'resize') {
            balance += amount + 1 - limit;
            limit = amount + 1;
            changeLimits(limits, { credits: { limit, windowMs: INFINITE, charge: 'settle' } }, 0);
          }
          expect(limits.usage(0).credits?.available).toBe(Math.max(0, balance));
        }
      }),
    );
  });
});

describe('a limit that is not full at the start', () => {
  it.each(['sliding-window', 'token-bucket', 'fixed-window'] as const)('%s', (algorithm) => {
    const limits = new RateLimits(
      { only: { limit: 10, windowMs: 1_000, algorithm, initial: 4 } },
      500,
    );
    const costs = (only: number) => costsOf(limits, { only });
    expect(limits.wait(costs(4), 500)).toBe(0);
    expect(limits.wait(costs(10), 500)).toBe(algorithm === 'token-bucket' ? 600 : 1_000);
    expect(limits.usage(1_500).only).toMatchObject({ available: 10, used: 0 });
  });
});

describe('limits that change', () => {
  const minute = (limit: number) => ({ limit, windowMs: 60_000 });

  it('settles what was charged before with the limits that were charged', () => {
    const limits = new RateLimits({
      tokens: { limit: 100, windowMs: 60_000, charge: 'settle' },
      requests: minute(5),
    });
    const reservation = limits.take(costsOf(limits, { tokens: 50, requests: 1 }), 0);
    expect(changeLimits(limits, { requests: null, credits: minute(9) }, 0)).toBe(true);
    expect(limits.names).toEqual(['tokens', 'credits']);
    expect(limits.settle(reservation, { tokens: 20 }, 0)).toBe(true);
    expect(limits.settle(reservation, { tokens: 20 }, 0)).toBe(false);
    expect(limits.usage(0)).toMatchObject({ tokens: { used: 20 }, credits: { used: 0 } });
  });

  it('refunds what was charged before, and gives a limit of the same name nothing of it', () => {
    const limits = new RateLimits({ requests: minute(5) });
    const old = limits.take(costsOf(limits, { requests: 2 }), 0);
    changeLimits(limits, { requests: null }, 0);
    changeLimits(limits, { requests: minute(5) }, 0);
    limits.take(costsOf(limits, { requests: 1 }), 0);
    expect(limits.refund(old, 0)).toBe(true);
    expect(limits.usage(0)).toMatchObject({ requests: { used: 1 } });
  });

  it('knows the names of those that are gone, and refuses to remove what never was', () => {
    const limits = new RateLimits({ requests: minute(5) });
    expect(() => changeLimits(limits, { other: null }, 0)).toThrow('no limit is named "other"');
    changeLimits(limits, { requests: null }, 0);
    changeLimits(limits, { requests: null }, 0);
    expect([limits.names, limits.knows('requests'), limits.knows('other')]).toEqual([
      [],
      true,
      false,
    ]);
    expect(() => changeLimits(limits, { a: minute(1), b: { limit: 0, windowMs: 1 } }, 0)).toThrow(
      '`limits.b.limit`',
    );
    expect(limits.names).toEqual([]);
    changeLimits(limits, { a: minute(1) }, 0);
    expect(() =>
      changeLimits(limits, { a: { limit: 1, windowMs: Number.POSITIVE_INFINITY } }, 0),
    ).toThrow('`limits.a.windowMs` must stay 60000 while running, got Infinity');
  });
});
