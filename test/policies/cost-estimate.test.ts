import { describe, expect, it } from 'vitest';
import { CostEstimate } from '../../src/policies/cost-estimate.ts';

const PRICES = { inputPrice: 2, cachedPrice: 0.5, outputPrice: 10 };
const request = { bytes: 0, tokens: 500_000 };

describe('the estimate of a cost', () => {
  it('is the price of the input, and of a thousand tokens of output before an answer is known', () => {
    const estimate = new CostEstimate(PRICES);
    expect(estimate.leastOf(request)).toBe(1);
    expect(estimate.expectedOf(request, 100)).toBe(1.01);
  });

  it('is the given cost, if there is one', () => {
    const estimate = new CostEstimate(PRICES);
    const given = { ...request, costs: { cost: 7 } };
    expect([estimate.leastOf(given), estimate.expectedOf(given, 5)]).toEqual([7, 7]);
  });

  it('is at most the bound, however much earlier answers cost', () => {
    const estimate = new CostEstimate(PRICES);
    estimate.learn(1_000);
    expect(estimate.expectedOf(request, 3)).toBe(3);
  });

  it('follows the mean of what answers cost beyond their input', () => {
    const estimate = new CostEstimate(PRICES);
    estimate.learn(0.4);
    estimate.learn(0.2);
    expect(estimate.expectedOf(request, 100)).toBeCloseTo(1.3, 12);
  });

  it('keeps that mean when the prices change', () => {
    const estimate = new CostEstimate(PRICES);
    estimate.learn(0.5);
    estimate.configure({ inputPrice: 4 });
    expect(estimate.expectedOf(request, 100)).toBe(2.5);
  });
});

describe('the cost of an answer', () => {
  it('is the recorded one, else that of its tokens by their prices', () => {
    const estimate = new CostEstimate(PRICES);
    expect(estimate.costOf({ cost: 3, inputTokens: 1 })).toBe(3);
    const usage = { inputTokens: 500_000, cachedTokens: 200_000, outputTokens: 100_000 };
    expect(estimate.costOf(usage)).toBeCloseTo(1 + 0.1 + 1, 12);
  });

  it('counts tokens from a cache as input if no other price is given', () => {
    const estimate = new CostEstimate({ inputPrice: 2 });
    expect(estimate.costOf({ inputTokens: 0, cachedTokens: 500_000 })).toBe(1);
  });

  it('is not known without prices or without tokens', () => {
    expect(new CostEstimate({}).costOf({ inputTokens: 10 })).toBeUndefined();
    expect(new CostEstimate(PRICES).costOf({})).toBeUndefined();
  });
});
