import { describe, expect, it } from 'vitest';
import { classify, reportedLimits } from '../../src/providers/classify.ts';

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
    'limit=100;, remaining=50, reset=30',
    'limit="100", remaining=-1, reset=30',
    'Limit=100',
    'limit, remaining, reset',
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
      { unit: 'requests', limit: 100, remaining: 50, resetMs: 30_000, windowMs: 60_000 },
    ]);
  });

  it('calls a cap on what is in flight concurrency', () => {
    const headers = {
      'ratelimit-policy': '"now";q=4;qu="concurrent-requests"',
      ratelimit: '"now";r=0',
    };
    expect(classify(new Response(null, { status: 429, headers }))).toMatchObject({
      kind: 'throttled',
      limit: 'concurrency',
      limits: [{ unit: 'concurrency', limit: 4, remaining: 0 }],
    });
  });

  it('is read where a reset is absurdly far ahead, without that', () => {
    const headers = { 'ratelimit-policy': '"a";q=9', ratelimit: '"a";r=0;t=999999999' };
    expect(reportedLimits(headers)).toEqual([{ unit: 'requests', limit: 9, remaining: 0 }]);
    const { retryAfterMs } = classify(new Response(null, { status: 429, headers }));
    expect(retryAfterMs).toBeUndefined();
  });
});

/** As `windowMs: 6000, limit: 2` sends them; `Retry-After: 6` beside them in a 429. */
describe('express-rate-limit 8.7.4', () => {
  const DATE = 'Sun, 22 Nov 2026 01:59:03 GMT';
  const ALL = { unit: 'requests', limit: 2, remaining: 1, resetMs: 6000, windowMs: 6000 };
  const ANSWERS: [string, Record<string, string>][] = [
    [
      'draft-6, with the older headers',
      {
        date: DATE,
        'ratelimit-limit': '2',
        'ratelimit-policy': '2;w=6',
        'ratelimit-remaining': '1',
        'ratelimit-reset': '6',
        'x-ratelimit-limit': '2',
        'x-ratelimit-remaining': '1',
        'x-ratelimit-reset': '1795312750',
      },
    ],
    [
      'draft-7',
      { date: DATE, ratelimit: 'limit=2, remaining=1, reset=6', 'ratelimit-policy': '2;w=6' },
    ],
    [
      'draft-8',
      {
        date: DATE,
        ratelimit: '"2-in-6sec"; r=1; t=6',
        'ratelimit-policy': '"2-in-6sec"; q=2; w=6; pk=:MTJjYTE3YjQ5YWYy:',
      },
    ],
  ];

  it.each(ANSWERS)('tells limit, rest, reset and window: %s', (_, headers) => {
    expect(reportedLimits(headers)).toEqual([ALL]);
    expect(reportedLimits(new Headers(headers))).toEqual([ALL]);
  });

  it.each(ANSWERS)('asks to wait for the reset when nothing is left: %s', (_, sent) => {
    const entries = Object.entries(sent).map(([name, value]) => [
      name,
      value.replace(/^1$/, '0').replace('remaining=1', 'remaining=0').replace('r=1', 'r=0'),
    ]);
    const headers = Object.fromEntries(entries);
    const verdict = classify(new Response('Too many requests', { status: 429, headers }));
    expect(verdict).toMatchObject({ kind: 'throttled', retryAfterMs: 6000 });
    expect(verdict.limits).toEqual([{ ...ALL, remaining: 0 }]);
    const asked = { ...headers, 'retry-after': '5' };
    expect(classify(new Response(null, { status: 429, headers: asked })).retryAfterMs).toBe(5000);
  });

  it('waits for no reset of a limit of which something is left', () => {
    const headers = { ratelimit: 'limit=2, remaining=1, reset=6', 'ratelimit-policy': '2;w=6' };
    const { retryAfterMs } = classify(new Response(null, { status: 429, headers }));
    expect(retryAfterMs).toBeUndefined();
  });

  it('of two limiters in draft-8 tells both', () => {
    const headers = {
      ratelimit: '"burst"; r=1; t=6, "100-in-1hr"; r=99; t=3600',
      'ratelimit-policy':
        '"burst"; q=2; w=6; pk=:MTJjYTE3YjQ5YWYy:, "100-in-1hr"; q=100; w=3600; pk=:MTJjYTE3YjQ5YWYy:',
    };
    expect(reportedLimits(headers)).toEqual([
      ALL,
      { unit: 'requests', limit: 100, remaining: 99, resetMs: 3_600_000, windowMs: 3_600_000 },
    ]);
  });
});

describe('policies without names', () => {
  const window = (headers: Record<string, string>) => reportedLimits(headers)[0]?.windowMs;

  it('give the window of the limit that is told, if it is clear which', () => {
    const ratelimit = 'limit=10, remaining=9, reset=1';
    const policy = (text: string) => ({ ratelimit, 'ratelimit-policy': text });
    expect(window(policy('10;w=1, 50;w=60, 1000;w=3600'))).toBe(1000);
    expect(window(policy('50;w=60'))).toBeUndefined();
    expect(window(policy('10;w=1, 10;w=60'))).toBeUndefined();
    expect(window(policy('10;w=1, 10;w=1;comment="twice"'))).toBe(1000);
    expect(window(policy('10;w=0'))).toBeUndefined();
    expect(window(policy('10;w=-1'))).toBeUndefined();
    expect(window(policy('10;w="1"'))).toBeUndefined();
    expect(window(policy('10;w=1.5'))).toBeUndefined();
  });

  it('have no window where it lasts 0 seconds, with a name and in any place', () => {
    const named = { 'ratelimit-policy': '"a";q=50;w=0, "b";q=9;w=60' };
    expect(reportedLimits(named).map(({ windowMs }) => windowMs)).toEqual([undefined, 60_000]);
  });

  it('are limits where no other is told', () => {
    expect(reportedLimits({ 'ratelimit-policy': '10;w=1, 50;w=60, 7' })).toEqual([
      { unit: 'requests', limit: 10, windowMs: 1000 },
      { unit: 'requests', limit: 50, windowMs: 60_000 },
      { unit: 'requests', limit: 7 },
    ]);
    const left = { 'ratelimit-policy': '10;w=1', 'ratelimit-remaining': '4' };
    expect(reportedLimits(left)).toEqual([
      { unit: 'requests', limit: 10, remaining: 4, windowMs: 1000 },
    ]);
  });
});

describe('@fastify/rate-limit 11.2.0 with `enableDraftSpec`', () => {
  it('tells no window', () => {
    const headers = { 'ratelimit-limit': '2', 'ratelimit-remaining': '1', 'ratelimit-reset': '6' };
    expect(reportedLimits(headers)).toEqual([
      { unit: 'requests', limit: 2, remaining: 1, resetMs: 6000 },
    ]);
  });
});

describe('a reset that is a time', () => {
  it('counts from the date of the answer (GitLab)', () => {
    const headers = {
      date: 'Tue, 05 Jan 2021 10:59:30 GMT',
      'ratelimit-limit': '60',
      'ratelimit-remaining': '0',
      'ratelimit-reset': '1609844400',
    };
    expect(reportedLimits(headers)).toMatchObject([{ limit: 60, remaining: 0, resetMs: 30_000 }]);
    expect(classify(new Response(null, { status: 429, headers })).retryAfterMs).toBe(30_000);
  });
});
