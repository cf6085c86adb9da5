import { describe, expect, it } from 'vitest';
import type { RequestCost } from '../../../src/policies/policy.ts';
import { CostsByLimit } from '../../../src/policies/rate-limit/costs-by-limit.ts';
import {
  CostAboveLimitError,
  UnknownLimitError,
} from '../../../src/policies/rate-limit/rate-limit.ts';
import { RateLimits } from '../../../src/policies/rate-limit/rate-limits.ts';
import { changeLimits } from '../../support/change-limits.ts';

const LIMITS = {
  tokens: { limit: 100, windowMs: 1_000 },
  requests: { limit: 10, windowMs: 1_000 },
};

function costsBy(limits = LIMITS, ignoreUnknown = false) {
  const rates = new RateLimits(limits);
  return { rates, costs: new CostsByLimit(rates, ignoreUnknown) };
}

const request = (tokens: number, costs?: RequestCost['costs']) => ({ tokens, bytes: 0, costs });

describe('the costs of a request by limit', () => {
  it('are in the order of the limits', () => {
    const { costs } = costsBy();
    expect(costs.of(request(30))).toEqual([30, 1]);
    expect(costs.of(request(30, { requests: 2 }))).toEqual([30, 2]);
    expect(costs.error).toBeUndefined();
  });

  it('are the same array for requests that cost the same', () => {
    const { costs } = costsBy();
    const first = costs.of(request(30));
    expect(costs.of(request(30))).toBe(first);
    expect(costs.of(request(31))).not.toBe(first);
    expect(first).toEqual([30, 1]);
  });

  it('stay those of the first look until the request is forgotten', () => {
    const { costs } = costsBy();
    const changing = { ...request(30) };
    costs.of(changing);
    changing.tokens = 40;
    costs.forget(request(1));
    expect(costs.of(changing)).toEqual([30, 1]);
    costs.forget(changing);
    expect(costs.of(changing)).toEqual([40, 1]);
  });

  it('have an error where no wait is enough, for that request alone', () => {
    const { costs } = costsBy();
    expect(costs.impossible(request(100))).toBeUndefined();
    expect(costs.impossible(request(101))).toBeInstanceOf(CostAboveLimitError);
    costs.of(request(101));
    expect(costs.error).toBeInstanceOf(CostAboveLimitError);
    costs.of(request(5));
    expect(costs.error).toBeUndefined();
  });

  it('have an error for an unknown name, unless it may be that of a limit elsewhere', () => {
    const unknown = request(1, { images: 2 });
    expect(costsBy().costs.impossible(unknown)).toBeInstanceOf(UnknownLimitError);
    const { costs } = costsBy(LIMITS, true);
    expect(costs.impossible(unknown)).toBeUndefined();
    expect(costs.of(unknown)).toEqual([1, 1]);
  });

  it('follow changed limits after a reset', () => {
    const { rates, costs } = costsBy();
    const asked = request(30);
    costs.of(asked);
    changeLimits(rates, { tokens: null, bytes: { limit: 5, windowMs: 1_000 } }, 0);
    costs.reset();
    expect(costs.of(asked)).toEqual([1, 0]);
  });
});
