import { describe, expect, it } from 'vitest';
import { classify, reportedLimits } from '../../src/providers/classify.ts';

const DAY_MS = 86_400_000;

describe('Groq', () => {
  const headers = {
    'x-groq-region': 'fra',
    'x-ratelimit-limit-requests': '14400',
    'x-ratelimit-limit-tokens': '18000',
    'x-ratelimit-remaining-requests': '14370',
    'x-ratelimit-remaining-tokens': '17997',
    'x-ratelimit-reset-requests': '2m59.56s',
    'x-ratelimit-reset-tokens': '7.66s',
  };
  const limits = [
    { unit: 'requests', limit: 14_400, remaining: 14_370, resetMs: 179_560, windowMs: DAY_MS },
    { unit: 'tokens', limit: 18_000, remaining: 17_997, resetMs: 7660, windowMs: 60_000 },
  ];

  it('counts requests by the day', () => {
    expect(reportedLimits(headers)).toEqual(limits);
    const { 'x-groq-region': _, ...elsewhere } = headers;
    expect(reportedLimits(elsewhere)).toEqual(limits);
    const unused = { ...headers, 'x-ratelimit-remaining-requests': '14400' };
    expect(reportedLimits(unused)).toMatchObject([{ windowMs: DAY_MS }, {}]);
  });

  it('says how long the tokens of a day are used up', () => {
    const message =
      'Rate limit reached for model `x` in organization `org_x` service tier `on_demand` on tokens per day (TPD): Limit 100000, Used 99996, Requested 484. Please try again in 6m54.72s.';
    const error = { error: { message, type: 'tokens', code: 'rate_limit_exceeded' } };
    expect(classify({ status: 429, error })).toMatchObject({
      kind: 'throttled',
      limit: 'tokens per day',
      retryAfterMs: 414_720,
    });
  });

  it('498 is an overload', () => {
    expect(classify({ status: 498 })).toMatchObject({ kind: 'overloaded', retry: true });
  });
});
