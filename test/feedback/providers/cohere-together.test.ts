import { describe, expect, it } from 'vitest';
import { classify, reportedLimits } from '../../../src/feedback/classify.ts';

const DATE = 'Fri, 02 Jan 2026 03:04:05 GMT';
const DAY_MS = 86_400_000;

describe('Cohere', () => {
  it('resets at a time', () => {
    const headers = {
      date: DATE,
      'x-trial-endpoint-call-limit': '40',
      'x-trial-endpoint-call-remaining': '39',
      'x-endpoint-monthly-call-limit': '1000',
      'x-ratelimit-limit': '10',
      'x-ratelimit-remaining': '0',
      'x-ratelimit-reset': String(Date.parse(DATE) / 1000 + 30),
    };
    expect(reportedLimits(headers)).toEqual([
      { unit: 'requests', limit: 40, remaining: 39, windowMs: 60_000 },
      { unit: 'requests', limit: 1000, windowMs: 30 * DAY_MS },
      { unit: 'requests', limit: 10, remaining: 0, resetMs: 30_000 },
    ]);
  });

  it('says which calls are used up', () => {
    const says = (calls: string) => ({
      statusCode: 429,
      body: { message: `You are using a Trial key, which is limited to ${calls}.` },
    });
    expect(classify(says('40 API calls / minute'))).toMatchObject({
      kind: 'throttled',
      limit: 'requests',
    });
    expect(classify(says('1000 API calls / month'))).toMatchObject({
      kind: 'fatal',
      retry: false,
      outage: 'quota',
    });
  });
});

describe('Together', () => {
  it('leaves the window open', () => {
    const headers = {
      'x-ratelimit-limit': '100',
      'x-ratelimit-remaining': '99',
      'x-ratelimit-reset': '1',
      'x-tokenlimit-limit': '3000',
      'x-tokenlimit-remaining': '2990',
    };
    expect(reportedLimits(headers)).toEqual([
      { unit: 'requests', limit: 100, remaining: 99, resetMs: 1000 },
      { unit: 'tokens', limit: 3000, remaining: 2990 },
    ]);
  });

  it('says whether it is the rate or the platform', () => {
    const limited = (type: string) => ({ status: 429, error: { message: 'x', error_type: type } });
    expect(classify(limited('dynamic_request_limited'))).toMatchObject({
      kind: 'throttled',
      limit: 'requests',
    });
    expect(classify(limited('dynamic_token_limited'))).toMatchObject({
      kind: 'throttled',
      limit: 'tokens',
    });
    expect(classify({ status: 503 })).toMatchObject({ kind: 'overloaded', retry: true });
  });
});
