import { describe, expect, it } from 'vitest';
import type { PolicyEvent } from '../../src/model/policy-events.ts';
import { type CompletedAttempt, REFUSED, type RequestCost } from '../../src/policies/policy.ts';
import type { RateLimit } from '../../src/policies/rate-limit/rate-limit.ts';
import { RateLimits } from '../../src/policies/rate-limit/rate-limits.ts';
import {
  RateLimitPolicy,
  type RateLimitPolicyOptions,
} from '../../src/policies/rate-limit-policy.ts';
import { changeLimits } from '../support/change-limits.ts';

const WINDOW = 1_000;
const limitOf = (limit: number, more: Partial<RateLimit> = {}): RateLimit => ({
  limit,
  windowMs: WINDOW,
  ...more,
});

function policyOf(
  limits: Record<string, RateLimit>,
  options: Partial<RateLimitPolicyOptions> = {},
) {
  const facts: PolicyEvent[] = [];
  const policy = new RateLimitPolicy(
    new RateLimits(limits),
    { onLimit: 'wait', refundRejected: false, ...options },
    (fact) => facts.push(fact),
  );
  const used = (now: number) =>
    Object.fromEntries(
      Object.entries(policy.snapshot(now)).map(([name, usage]) => [name, usage.used]),
    );
  return { policy, facts, used };
}

const request = (tokens = 0, bytes = 0, costs?: RequestCost['costs']): RequestCost => ({
  tokens,
  bytes,
  costs,
});

const THREE = { requests: limitOf(10), tokens: limitOf(100), bytes: limitOf(1000) };

describe('what a request costs', () => {
  it('is 1 request, its tokens and its bytes, of limits of these names', () => {
    const { policy, used } = policyOf(THREE);
    expect(policy.wait(request(30, 400), 0)).toBe(0);
    policy.take(request(30, 400), 0);
    expect(used(0)).toEqual({ requests: 1, tokens: 30, bytes: 400 });
  });

  it('is nothing of limits of other names, and nothing of the rest where a limit is not there', () => {
    const { policy, used } = policyOf({ images: limitOf(5), tokens: limitOf(100) });
    policy.take(request(30, 400), 0);
    expect(used(0)).toEqual({ images: 0, tokens: 30 });
  });

  it('is what it says itself, for the limits that it names', () => {
    const { policy, used } = policyOf({ ...THREE, images: limitOf(5) });
    const own = request(30, 400, { images: 2, tokens: 7, requests: 0 });
    expect(policy.wait(own, 0)).toBe(0);
    policy.take(own, 0);
    expect(used(0)).toEqual({ requests: 0, tokens: 7, bytes: 400, images: 2 });
  });

  it.each([
    ['an unknown limit', { pages: 1 }, { code: 'UNKNOWN_LIMIT', limit: 'pages' }],
    ['more than the limit', { tokens: 101 }, { code: 'COST_ABOVE_LIMIT', cost: 101, maxCost: 100 }],
    ['no amount', { tokens: -1 }, { message: expect.stringContaining('`costs.tokens`') }],
  ])('is refused for ever if it is %s, where others may wait', (_what, costs, error) => {
    const { policy, facts, used } = policyOf(THREE);
    const wrong = request(0, 0, costs);
    expect(policy.wait(wrong, 0)).toBe(REFUSED);
    expect(policy.refusal(wrong, 0)).toMatchObject(error);
    expect(policy.impossible(wrong)).toMatchObject(error);
    expect(policy.impossible(request())).toBeUndefined();
    expect(facts).toEqual([]);
    expect(used(0)).toEqual({ requests: 0, tokens: 0, bytes: 0 });
  });

  it('may be of limits that are elsewhere, where that is allowed', () => {
    const { policy, used } = policyOf({ tokens: limitOf(9) }, { ignoreUnknown: true });
    const own = request(1, 0, { pages: 1, tokens: 3 });
    expect(policy.wait(own, 0)).toBe(0);
    policy.take(own, 0);
    expect(used(0)).toEqual({ tokens: 3 });
  });

  it('is looked up again when others were asked for meanwhile', () => {
    const { policy, used } = policyOf(THREE);
    const [one, other] = [request(10), request(99)];
    policy.wait(one, 0);
    policy.wait(other, 0);
    policy.take(one, 0);
    expect(used(0)).toMatchObject({ tokens: 10 });
    expect(policy.wait(other, 0)).toBe(WINDOW);
    policy.wait(one, 0);
    expect(policy.refusal(other, 0)).toMatchObject({ cost: 99 });
  });

  it('is refused when the limit was lowered below it since', () => {
    const { policy } = policyOf({ tokens: limitOf(100) });
    const large = request(80);
    expect(policy.wait(large, 0)).toBe(0);
    changeLimits(policy.limits, { tokens: limitOf(50) }, 0);
    expect(policy.wait(large, 0)).toBe(REFUSED);
    expect(policy.refusal(large, 0)).toMatchObject({ code: 'COST_ABOVE_LIMIT', maxCost: 50 });
  });
});

describe('a request that does not fit', () => {
  it('waits exactly until it does', () => {
    const { policy } = policyOf({ requests: limitOf(1) });
    policy.take(request(), 100);
    const next = request();
    expect(policy.wait(next, 100)).toBe(WINDOW);
    expect(policy.wait(next, 1_099)).toBe(1);
    expect(policy.wait(next, 1_100)).toBe(0);
  });

  it('is told of once, with the limit that binds, however often it asks and others do', () => {
    const { policy, facts } = policyOf({ requests: limitOf(1), tokens: limitOf(100) });
    policy.take(request(70), 0);
    const [one, other] = [request(40), request(50)];
    for (let now = 0; now < 5; now += 1) {
      policy.wait(one, now);
      policy.wait(other, now);
    }
    expect(facts).toEqual([
      {
        kind: 'limitDenied',
        at: 0,
        limit: 'requests',
        cost: 1,
        available: 0,
        retryAfterMs: WINDOW,
        waits: true,
      },
      expect.objectContaining({ kind: 'limitDenied', at: 0 }),
    ]);
  });

  it('is told of again for its next attempt', () => {
    const { policy, facts } = policyOf({ requests: limitOf(1) });
    policy.take(request(), 0);
    const again = request();
    policy.wait(again, 0);
    policy.take(again, WINDOW);
    policy.wait(again, WINDOW);
    expect(facts.map(({ at }) => at)).toEqual([0, WINDOW]);
  });

  it("fails with `onLimit: 'fail'`, and says so", () => {
    const { policy, facts } = policyOf({ tokens: limitOf(100) }, { onLimit: 'fail' });
    policy.take(request(70), 250);
    const next = request(40);
    expect(policy.wait(next, 500)).toBe(REFUSED);
    const details = { limit: 'tokens', cost: 40, available: 30, retryAfterMs: 750 };
    expect(policy.refusal(next, 500)).toMatchObject({ code: 'RATE_LIMIT_EXCEEDED', ...details });
    expect(facts).toEqual([{ kind: 'limitDenied', at: 500, waits: false, ...details }]);
  });
});

describe('what an attempt has really used', () => {
  const ended = (more: Partial<CompletedAttempt> = {}): CompletedAttempt => ({
    ...request(40),
    isSent: true,
    verdict: { kind: 'ok' },
    usage: undefined,
    epoch: 0,
    ...more,
  });

  const usedAfter = (
    limit: RateLimit,
    end: CompletedAttempt,
    options?: Partial<RateLimitPolicyOptions>,
  ) => {
    const { policy, used } = policyOf({ tokens: limit }, options);
    const reservation = policy.take(request(40), 0);
    const before = used(0).tokens;
    policy.giveBack(reservation, end, { now: () => 10 });
    // A second time does nothing.
    policy.giveBack(reservation, ended({ isSent: false }), { now: () => 10 });
    return [before, used(10).tokens];
  };

  it.each([
    ['upfront', [40, 40], [40, 40], [40, 40], [40, 0]],
    ['settle', [40, 25], [40, 60], [40, 40], [40, 0]],
    ['actual', [0, 25], [0, 60], [0, 40], [0, 0]],
  ] as const)('is charged as %s has it', (charge, less, more, unknown, unsent) => {
    const limit = limitOf(100, { charge });
    expect(usedAfter(limit, ended({ usage: { tokens: 25, pages: 1 } }))).toEqual(less);
    expect(usedAfter(limit, ended({ usage: { tokens: 60 } }))).toEqual(more);
    expect(usedAfter(limit, ended())).toEqual(unknown);
    expect(usedAfter(limit, ended({ verdict: undefined }))).toEqual(unknown);
    expect(usedAfter(limit, ended({ isSent: false, verdict: undefined }))).toEqual(unsent);
  });

  it('is nothing for a 429 where the provider does not count these, and for nothing else', () => {
    const rejected = ended({ verdict: { kind: 'throttled' } });
    const overloaded = ended({ verdict: { kind: 'overloaded' } });
    const refundRejected = { refundRejected: true };
    expect(usedAfter(limitOf(100), rejected, refundRejected)).toEqual([40, 0]);
    expect(usedAfter(limitOf(100), rejected)).toEqual([40, 40]);
    expect(usedAfter(limitOf(100), overloaded, refundRejected)).toEqual([40, 40]);
  });
});
