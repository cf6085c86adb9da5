import { describe, expect, it } from 'vitest';
import { classify, reportedLimits } from '../../../src/feedback/classify.ts';

const DAY_MS = 86_400_000;

describe('the IETF draft', () => {
  it('tells policies and what is left of them', () => {
    const headers = {
      'ratelimit-policy':
        '"permin";q=50;w=60, "daily";q=100000;w=86400;qu="content-bytes", "now";q=4;qu="concurrent-requests", "odd";q=1;qu="bananas"',
      ratelimit: '"permin";r=49;t=30, "now";r=3',
    };
    expect(reportedLimits(headers)).toEqual([
      { unit: 'requests', limit: 50, remaining: 49, resetMs: 30_000, windowMs: 60_000 },
      { unit: 'bytes', limit: 100_000, windowMs: DAY_MS },
      { unit: 'concurrency', limit: 4, remaining: 3 },
    ]);
  });

  it('names the policy that was hit and waits for it, but Retry-After wins', () => {
    const ratelimit = '"permin";r=0;t=30, "perhr";r=0;t=40, "day";r=7;t=9999';
    const hit = { kind: 'throttled', retry: true, limit: 'perhr' };
    expect(classify(new Response(null, { status: 429, headers: { ratelimit } }))).toMatchObject({
      ...hit,
      retryAfterMs: 40_000,
    });
    const headers = { ratelimit, 'retry-after': '5' };
    expect(classify(new Response(null, { status: 429, headers }))).toMatchObject({
      ...hit,
      retryAfterMs: 5000,
    });
  });

  it.each([
    '"permin";r=-1;t=-5',
    '"permin";r=1.5',
    '"permin";r="5"',
    '"permin',
    'limit=100, remaining=50, reset=30',
  ])('%s says nothing', (ratelimit) => {
    expect(reportedLimits({ ratelimit })).toEqual([]);
  });

  it('had three headers once', () => {
    const headers = {
      'RateLimit-Limit': '100, 100;w=60',
      'RateLimit-Remaining': '50',
      'RateLimit-Reset': '30',
    };
    expect(reportedLimits(headers)).toEqual([
      { unit: 'requests', limit: 100, remaining: 50, resetMs: 30_000 },
    ]);
  });
});
