import { describe, expect, it } from 'vitest';
import { classify, reportedLimits } from '../../src/providers/classify.ts';

const DAY_MS = 86_400_000;

describe('Mistral', () => {
  it('names windows', () => {
    const headers = {
      'x-ratelimit-limit-tokens-minute': '5000000',
      'x-ratelimit-remaining-tokens-minute': '4999911',
      'x-ratelimit-tokens-query-cost': '52',
      'x-ratelimit-limit-req-minute': '720',
      'x-ratelimit-remaining-req-minute': '717',
    };
    expect(reportedLimits(headers)).toEqual([
      { unit: 'requests', limit: 720, remaining: 717, windowMs: 60_000 },
      { unit: 'tokens', limit: 5_000_000, remaining: 4_999_911, windowMs: 60_000 },
    ]);
  });

  it('counts by size', () => {
    const headers = {
      'ratelimitbysize-limit': '500000',
      'ratelimitbysize-remaining': '499987',
      'ratelimitbysize-reset': '42',
      'ratelimitbysize-query-cost': '13',
    };
    expect(reportedLimits(headers)).toEqual([
      { unit: 'tokens', limit: 500_000, remaining: 499_987, resetMs: 42_000, windowMs: 60_000 },
    ]);
  });

  it('tells a limit from a lack of capacity', () => {
    const limited = { object: 'error', message: 'Rate limit exceeded', type: 'rate_limited' };
    const sdkError = Object.assign(new Error('API error occurred: Status 429'), {
      statusCode: 429,
      body: JSON.stringify({ ...limited, code: '1300' }),
    });
    expect(classify(sdkError)).toMatchObject({ kind: 'throttled', retry: true });
    const full = { type: 'service_tier_capacity_exceeded', code: '3505', raw_status_code: 429 };
    expect(classify({ statusCode: 429, body: JSON.stringify(full) })).toMatchObject({
      kind: 'overloaded',
      retry: true,
    });
  });

  it('(Cerebras) counts by day and minute', () => {
    const headers = {
      'x-ratelimit-limit-requests-day': '1000000000',
      'x-ratelimit-limit-tokens-minute': '1000000000',
      'x-ratelimit-remaining-requests-day': '999997455',
      'x-ratelimit-remaining-tokens-minute': '999998298',
      'x-ratelimit-reset-requests-day': '33011.382867097855',
      'x-ratelimit-reset-tokens-minute': '11.382867097854614',
    };
    expect(reportedLimits(headers)).toMatchObject([
      { unit: 'tokens', windowMs: 60_000, resetMs: expect.closeTo(11_382.87, 1) },
      { unit: 'requests', windowMs: DAY_MS },
    ]);
  });
});
