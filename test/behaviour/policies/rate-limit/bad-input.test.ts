import { describe, expect, it } from 'vitest';
import type { LimitChanges } from '../../../../src/policies/rate-limit/limit-changes.ts';
import {
  CostAboveLimitError,
  type RateLimit,
  UnknownLimitError,
} from '../../../../src/policies/rate-limit/rate-limit.ts';
import { RateLimits } from '../../../../src/policies/rate-limit/rate-limits.ts';
import { algorithms } from '../../../policies/rate-limit/scripts.ts';
import { changeLimits } from '../../../support/change-limits.ts';
import { costsOf } from '../../../support/costs-of.ts';

const good: RateLimit = { limit: 10, windowMs: 1000 };
const make = () => new RateLimits({ requests: good, tokens: { limit: 2000, windowMs: 1000 } });

const wrongLimits: readonly (readonly [unknown, string])[] = [
  [undefined, '`limits` must be an object of named limits, got undefined'],
  [null, '`limits` must be an object of named limits, got null'],
  [[good], '`limits` must be an object of named limits, got an array of 1'],
  [{}, '`limits` must name at least 1 limit, got none'],
  [{ rpm: 10 }, 'the options of limits.rpm must be an object, got 10'],
  ...[0, -1, 0.5, Number.NaN, Number.POSITIVE_INFINITY].flatMap((value): [unknown, string][] => [
    [
      { rpm: { ...good, limit: value } },
      `\`limits.rpm.limit\` must be a finite number >= 1, got ${value}`,
    ],
    [
      { rpm: { ...good, algorithm: 'token-bucket', burst: value } },
      `\`limits.rpm.burst\` must be a finite number >= 1, got ${value}`,
    ],
  ]),
  [{ rpm: { ...good, limit: '10' } }, '`limits.rpm.limit` must be a finite number >= 1, got "10"'],
  ...[0, -1, 0.5, Number.NaN].map((value): [unknown, string] => [
    { rpm: { ...good, windowMs: value } },
    `\`limits.rpm.windowMs\` must be a number >= 1 or Infinity, got ${value}`,
  ]),
  [{ rpm: { windowMs: 1000 } }, '`limits.rpm.limit` must be a finite number >= 1, got undefined'],
  [
    { rpm: { ...good, burst: 5 } },
    '`limits.rpm.burst` belongs to a token-bucket, not a sliding-window; got 5',
  ],
  [
    { rpm: { ...good, algorithm: 'leaky' } },
    '`limits.rpm.algorithm` must be one of "sliding-window", "token-bucket", "fixed-window", got "leaky"',
  ],
  [
    { rpm: { ...good, charge: true } },
    '`limits.rpm.charge` must be one of "upfront", "settle", "actual", got true',
  ],
  [
    { rpm: { ...good, window: 1 } },
    '`window` is no option of limits.rpm; it takes limit, windowMs, algorithm, burst, charge, initial',
  ],
];

describe('wrong limits', () => {
  it.each(wrongLimits)('%j: %s', (limits, message) => {
    expect(() => new RateLimits(limits as Record<string, RateLimit>)).toThrow(message);
  });

  it('are refused in changes too, and change nothing', () => {
    const policy = make();
    policy.take(costsOf(policy, { requests: 4 }), 0);
    const before = policy.usage(0);
    const nonsense: readonly (readonly [unknown, string])[] = [
      ...wrongLimits,
      [{ requests: { limit: 1, windowMs: 1 }, rpm: null }, 'no limit is named "rpm"'],
      [
        { requests: { limit: 1, windowMs: 1 }, tokens: { ...good, algorithm: 'fixed-window' } },
        '`limits.tokens.algorithm` must stay "sliding-window" while running, got "fixed-window"',
      ],
    ];
    for (const [limits, message] of nonsense) {
      expect(() => changeLimits(policy, limits as LimitChanges, 0)).toThrow(message);
      expect(policy.usage(0)).toEqual(before);
    }
  });
});

describe('wrong costs', () => {
  it.each([
    [null, '`costs` must be an object of numbers, got null'],
    [7, '`costs` must be an object of numbers, got 7'],
    [{ requests: -1 }, '`costs.requests` must be a finite number >= 0, got -1'],
    [{ requests: Number.NaN }, '`costs.requests` must be a finite number >= 0, got NaN'],
    [{ tokens: '7' }, '`costs.tokens` must be a finite number >= 0, got "7"'],
    [{ tokens: undefined }, '`costs.tokens` must be a finite number >= 0, got undefined'],
    [{ tokens: 1e300 }, '`costs.tokens` must be a number from 0 to 9007199254740992, got 1e+300'],
    [
      { tokns: 1 },
      'no limit is named "tokns"; did you mean "tokens"? There are "requests", "tokens"',
    ],
    [{ toString: 1 }, 'no limit is named "toString"'],
    [
      { tokens: 2001 },
      'a cost of 2001 can never pass the limit "tokens", which takes 2000 at most',
    ],
  ])('%j: %s', (costs, message) => {
    expect(() => costsOf(make(), costs as Record<string, number>)).toThrow(message);
  });

  it('have errors that can be told apart', () => {
    expect(() => costsOf(make(), { tokns: 1 })).toThrow(UnknownLimitError);
    expect(() => costsOf(make(), { tokens: 2001 })).toThrow(CostAboveLimitError);
    const caught = (costs: Record<string, number>) => {
      try {
        return costsOf(make(), costs);
      } catch (error) {
        return error;
      }
    };
    expect(caught({ tokns: 1 })).toMatchObject({
      code: 'UNKNOWN_LIMIT',
      limit: 'tokns',
      known: ['requests', 'tokens'],
    });
    expect(caught({ tokens: 2001 })).toMatchObject({
      code: 'COST_ABOVE_LIMIT',
      limit: 'tokens',
      cost: 2001,
      maxCost: 2000,
    });
  });

  it('that are fractions are rounded up, and nothing is lost in sums', () => {
    const policy = make();
    const reservation = policy.take(costsOf(policy, { tokens: 0.1 }), 0);
    expect(policy.usage(0).tokens?.used).toBe(1);
    policy.refund(reservation, 0);
    expect(policy.usage(0).tokens?.used).toBe(0);
  });

  it('may be the whole limit', () => {
    const policy = make();
    const all = costsOf(policy, { tokens: 2000 });
    expect(policy.wait(all, 0)).toBe(0);
  });
});

describe('a reservation', () => {
  it('goes on when it is settled to nonsense', () => {
    const policy = new RateLimits({ tokens: { ...good, charge: 'settle' } });
    const reservation = policy.take(costsOf(policy, { tokens: 5 }), 0);
    const nonsense: unknown[] = [{ tokens: -1 }, { tokens: Number.NaN }, { tokns: 1 }, 7];
    for (const actual of nonsense) {
      expect(() => policy.settle(reservation, actual as Record<string, number>, 0)).toThrow();
      expect(policy.usage(0).tokens?.used).toBe(5);
    }
    expect(() => policy.settle(reservation, { tokens: Number.NaN }, 0)).toThrow('`actual.tokens`');
    expect(policy.settle(reservation, { tokens: 3 }, 0)).toBe(true);
    expect(policy.usage(0).tokens?.used).toBe(3);
  });

  it('of other limits is left alone', () => {
    const [mine, other] = [make(), make()];
    const costs = costsOf(mine, { requests: 5 });
    mine.take(costs, 0);
    const foreign = other.take(costs, 0);
    expect(mine.refund(foreign, 0)).toBe(false);
    expect(mine.settle(foreign, { requests: 0 }, 0)).toBe(false);
    expect(mine.usage(0).requests?.used).toBe(5);
    expect(other.refund(foreign, 0)).toBe(true);
  });
});

describe.each(algorithms)('a clock, for a %s,', (algorithm) => {
  const policy = () => new RateLimits({ only: { limit: 10, windowMs: 1000, algorithm } });

  it('that stands still changes nothing', () => {
    const limits = policy();
    const one = costsOf(limits, { only: 1 });
    for (let count = 0; count < 10; count += 1) {
      expect(limits.wait(one, 5)).toBe(0);
      limits.take(one, 5);
    }
    const waitMs = limits.wait(one, 5);
    expect(waitMs).toBe(algorithm === 'token-bucket' ? 100 : 1000);
    expect(limits.wait(one, 5)).toBe(waitMs);
  });

  it('that runs backwards lets nothing pass early', () => {
    const limits = policy();
    const all = costsOf(limits, { only: 10 });
    limits.take(all, 5000);
    expect(limits.wait(all, 3000)).toBe(3000);
    expect(limits.wait(all, -3000)).toBe(9000);
    limits.take(costsOf(limits, {}), 3000);
    expect(limits.usage(3000).only).toMatchObject({ used: 10, resetMs: 3000 });
    expect(limits.wait(all, 6000)).toBe(0);
  });

  it.each([1e9, 1e12, 1e15, 1e20, 1e300])('that leaps to %d is right after it', (far) => {
    const limits = policy();
    const all = costsOf(limits, { only: 10 });
    limits.take(all, 5);
    expect(limits.wait(all, far)).toBe(0);
    limits.take(all, far);
    const waitMs = limits.wait(all, far);
    expect(waitMs).toBeGreaterThan(0);
    expect(limits.wait(all, far + waitMs)).toBe(0);
  });

  it('may count from below zero', () => {
    const limits = policy();
    const all = costsOf(limits, { only: 10 });
    limits.take(all, -500);
    expect(limits.wait(all, -400)).toBe(900);
    expect(limits.wait(all, 500)).toBe(0);
  });
});
