import { describe, expect, it } from 'vitest';
import { RateLimitExceededError } from '../../../../src/policies/rate-limit/rate-limit.ts';
import { RateLimits } from '../../../../src/policies/rate-limit/rate-limits.ts';
import { costsOf } from '../../../support/costs-of.ts';

const MINUTE = 60_000;

const provider = () =>
  new RateLimits({
    requests: { limit: 10_000, windowMs: MINUTE },
    tokens: { limit: 2_000_000, windowMs: MINUTE },
  });

/** Lets requests pass in order, each as soon as it may. Returns when each passed. */
function passAll(limits: RateLimits, count: number, tokens: number, everyMs: number): number[] {
  const costs = costsOf(limits, { requests: 1, tokens });
  let now = 0;
  return Array.from({ length: count }, (_, index) => {
    now = Math.max(now, index * everyMs);
    now += limits.wait(costs, now);
    limits.take(costs, now);
    return now;
  });
}

/** The most passages in any window-long interval. */
function fullest(passedAt: readonly number[]): number {
  let first = 0;
  let most = 0;
  passedAt.forEach((at, last) => {
    while ((passedAt[first] as number) + MINUTE <= at) first += 1;
    most = Math.max(most, last - first + 1);
  });
  return most;
}

const isInOrder = (times: readonly number[]) =>
  times.every((time, index) => index === 0 || time >= (times[index - 1] as number));

/** Limits as they are after charges of so many milliseconds ago. */
function chargedAgo(now: number, limit: number, ago: readonly (readonly [number, number])[]) {
  const limits = new RateLimits({ only: { limit, windowMs: MINUTE } });
  for (const [ms, amount] of ago) limits.take(costsOf(limits, { only: amount }), now - ms);
  return limits;
}

describe('10,000 requests and 2,000,000 tokens a minute', () => {
  it.each([
    { tokens: 1500, everyMs: 0, binding: 'tokens', inAWindow: 1333, endsAt: 8 * MINUTE },
    { tokens: 1500, everyMs: 3.3, binding: 'tokens', inAWindow: 1333 },
    { tokens: 100, everyMs: 0, binding: 'requests', inAWindow: 10_000, endsAt: MINUTE },
    { tokens: 100, everyMs: 0.3, binding: 'requests', inAWindow: 10_000 },
    { tokens: 200, everyMs: 0, binding: 'requests', inAWindow: 10_000, endsAt: MINUTE },
  ])('let 11,000 requests of $tokens tokens, one each $everyMs ms, pass in order', (run) => {
    const limits = provider();
    const passedAt = passAll(limits, 11_000, run.tokens, run.everyMs);
    expect(isInOrder(passedAt)).toBe(true);
    expect(fullest(passedAt)).toBe(run.inAWindow);
    expect(run.inAWindow * run.tokens).toBeLessThanOrEqual(2_000_000);
    if (run.endsAt !== undefined) expect(passedAt.at(-1)).toBe(run.endsAt);
  });

  it('name the limit that binds', () => {
    const limits = provider();
    passAll(limits, 1333, 1500, 0);
    const costs = costsOf(limits, { requests: 1, tokens: 1500 });
    expect(limits.binding(costs, 0)).toBe('tokens');
    expect(limits.binding(costsOf(limits, { requests: 1, tokens: 500 }), 0)).toBeUndefined();
    const error = limits.refusal(costs, 0);
    expect(error).toBeInstanceOf(RateLimitExceededError);
    expect(error).toMatchObject({
      name: 'RateLimitExceededError',
      code: 'RATE_LIMIT_EXCEEDED',
      limit: 'tokens',
      cost: 1500,
      available: 500,
      retryAfterMs: MINUTE,
      message:
        'the rate limit "tokens" has 500 left of the 1500 that are needed; try again in 60000 ms',
    });
  });

  it('charge nothing when one of them refuses', () => {
    const limits = provider();
    passAll(limits, 1333, 1500, 0);
    const before = limits.usage(0);
    expect(limits.refusal(costsOf(limits, { requests: 1, tokens: 1500 }), 0)).toBeDefined();
    expect(limits.usage(0)).toEqual(before);
    expect(before).toEqual({
      requests: { limit: 10_000, used: 1333, available: 8667, resetMs: MINUTE },
      tokens: { limit: 2_000_000, used: 1_999_500, available: 500, resetMs: MINUTE },
    });
  });

  it('wait for the longest of the waits, in one computation', () => {
    const limits = new RateLimits({
      requests: { limit: 1, windowMs: 1000 },
      tokens: { limit: 10, windowMs: MINUTE },
    });
    limits.take(costsOf(limits, { tokens: 10 }), 0);
    limits.take(costsOf(limits, { requests: 1 }), 59_500);
    const both = costsOf(limits, { requests: 1, tokens: 1 });
    expect(limits.wait(both, 59_600)).toBe(900);
    expect(limits.binding(both, 59_600)).toBe('requests');
    expect(limits.wait(costsOf(limits, { tokens: 1 }), 59_600)).toBe(400);
  });

  it('take 2,000,000 charges of one token', () => {
    const limits = provider();
    const costs = costsOf(limits, { tokens: 1 });
    for (let count = 0; count < 2_000_000; count += 1) {
      if (limits.wait(costs, count / 64) === 0) limits.take(costs, count / 64);
    }
    const now = 2_000_000 / 64;
    expect(limits.usage(now).tokens?.used).toBe(2_000_000);
    expect(limits.wait(costs, now)).toBe(MINUTE - now);
    expect(limits.wait(costsOf(limits, { tokens: 1_000_000 }), now)).toBe(
      MINUTE + 999_999 / 64 - now,
    );
  });
});

describe('a sliding window of a minute', () => {
  const now = 1_000_000;
  const SENT = [55, 45, 30, 20, 10, 5, 2].map((seconds) => [seconds * 1000, 1] as const);

  it('counts what was sent in the last 60 s', () => {
    const { only } = chargedAgo(now, 30, [[61_000, 1], [60_000, 1], ...SENT]).usage(now);
    expect(only).toEqual({ limit: 30, used: 7, available: 23, resetMs: 58_000 });
  });

  it.each([
    { limit: 8, waitMs: 0, why: 'one more fits' },
    { limit: 7, waitMs: 5000, why: 'the oldest, of 55 s ago, must leave' },
    { limit: 6, waitMs: 15_000, why: 'two must leave' },
    { limit: 5, waitMs: 30_000, why: 'three must leave' },
    { limit: 1, waitMs: 58_000, why: 'all must leave' },
  ])('at 7 sent and $limit a minute waits $waitMs ms: $why', ({ limit, waitMs }) => {
    const limits = chargedAgo(now, limit, SENT);
    expect(limits.wait(costsOf(limits, { only: 1 }), now)).toBe(waitMs);
  });

  it.each([
    { tokens: 50, waitMs: 0 },
    { tokens: 51, waitMs: 10_000 },
    { tokens: 150, waitMs: 10_000 },
    { tokens: 151, waitMs: 30_000 },
    { tokens: 351, waitMs: 50_000 },
    { tokens: 500, waitMs: 50_000 },
  ])('at 450 of 500 tokens used waits $waitMs ms for $tokens', ({ tokens, waitMs }) => {
    const ago = [
      [50_000, 100],
      [30_000, 200],
      [10_000, 150],
    ] as const;
    const limits = chargedAgo(now, 500, ago);
    expect(limits.usage(now).only?.used).toBe(450);
    expect(limits.wait(costsOf(limits, { only: tokens }), now)).toBe(waitMs);
  });

  it('lets 6 of 10 rapid requests pass at once and the rest a minute after the first', () => {
    const limits = new RateLimits({ only: { limit: 6, windowMs: MINUTE } });
    const costs = costsOf(limits, { only: 1 });
    let at = 0;
    const passedAt = Array.from({ length: 10 }, () => {
      at += limits.wait(costs, at);
      limits.take(costs, at);
      return at;
    });
    expect(passedAt).toEqual([0, 0, 0, 0, 0, 0, MINUTE, MINUTE, MINUTE, MINUTE]);
  });

  it('rolls: what was sent at 0 s is gone at 60 s, and no sooner', () => {
    const limits = new RateLimits({ only: { limit: 9, windowMs: MINUTE } });
    const used = (at: number) => limits.usage(at).only?.used;
    for (const at of [0, 10, 20, 30_000]) limits.take(costsOf(limits, { only: 1 }), at);
    expect([used(30_000), used(59_999.9), used(60_000), used(61_000)]).toEqual([4, 4, 3, 1]);
  });

  it('returns the same end of the wait to all, and admits the first that comes back', () => {
    const limits = chargedAgo(now, 7, SENT);
    const costs = costsOf(limits, { only: 1 });
    expect([0, 100, 200].map((ms) => limits.wait(costs, now + ms))).toEqual([5000, 4900, 4800]);
    expect(limits.wait(costs, now + 5000)).toBe(0);
    limits.take(costs, now + 5000);
    expect(limits.wait(costs, now + 5000)).toBe(10_000);
  });
});
