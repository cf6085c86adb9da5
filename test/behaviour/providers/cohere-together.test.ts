import { describe, expect, it } from 'vitest';
import { classify, reportedLimits } from '../../../src/providers/classify.ts';

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
      { unit: 'requests', limit: 10, remaining: 0, resetMs: 30_000, isResetTime: true },
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

  it('prefers the time until the reset, as Discord sends it, to the time of the reset', () => {
    const headers = {
      'x-ratelimit-limit': '10',
      'x-ratelimit-remaining': '9',
      'x-ratelimit-reset': String(Date.now() / 1000 + 7),
      'x-ratelimit-reset-after': '1.988',
    };
    expect(reportedLimits(headers)).toEqual([
      { unit: 'requests', limit: 10, remaining: 9, resetMs: 1988 },
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

/** Its `x-ratelimit-*` are those of the third draft of the IETF; it sends no `Retry-After`. */
describe('Envoy', () => {
  const sent = (limit: string, remaining = '59') => ({
    'x-ratelimit-limit': limit,
    'x-ratelimit-remaining': remaining,
    'x-ratelimit-reset': '42',
  });
  const told = { unit: 'requests', limit: 60, remaining: 59, resetMs: 42_000 };

  it.each([
    '60;w=60',
    '60, 60;w=60',
    '60, 60;w=60;name="x"',
    '60, 60;w=60, 1000;w=3600;name="by key, an hour"',
    '60, 1000;w=3600, 60;w=60',
  ])('tells the window of the limit that is closest: %s', (limit) => {
    expect(reportedLimits(sent(limit))).toEqual([{ ...told, windowMs: 60_000 }]);
    const { 'x-ratelimit-limit': _, ...others } = sent(limit);
    const draft = Object.entries({ 'x-ratelimit-limit': limit, ...others });
    const unprefixed = Object.fromEntries(draft.map(([name, value]) => [name.slice(2), value]));
    expect(reportedLimits(unprefixed)).toEqual([{ ...told, windowMs: 60_000 }]);
  });

  it.each(['60, 60;w=60, 60;w=3600', '60, 70;w=60'])(
    'tells no window where it is not clear: %s',
    (limit) => {
      expect(reportedLimits(sent(limit))).toEqual([told]);
    },
  );

  it.each(['60, 60;w=', '60, 60', '60,', '-60, 60;w=60', '6e1, 60;w=60', '60, 60;w=60, "'])(
    'of %s reads what is left alone',
    (limit) => {
      expect(reportedLimits(sent(limit))).toEqual([
        { unit: 'requests', remaining: 59, resetMs: 42_000 },
      ]);
    },
  );

  it('asks to wait for the end of the window', () => {
    const headers = sent('60, 60;w=60', '0');
    expect(classify(new Response('', { status: 429, headers }))).toMatchObject({
      kind: 'throttled',
      limit: 'requests',
      retryAfterMs: 42_000,
    });
    const left = sent('60, 60;w=60', '1');
    expect(classify(new Response('', { status: 429, headers: left })).retryAfterMs).toBeUndefined();
  });
});

describe('plain `x-ratelimit-*`', () => {
  it('of @fastify/rate-limit 11.2.0 have seconds until the reset', () => {
    const headers = {
      'x-ratelimit-limit': '2',
      'x-ratelimit-remaining': '0',
      'x-ratelimit-reset': '6',
    };
    const body =
      '{"statusCode":429,"error":"Too Many Requests","message":"Rate limit exceeded, retry in 6 seconds"}';
    expect(reportedLimits(headers)).toEqual([
      { unit: 'requests', limit: 2, remaining: 0, resetMs: 6000 },
    ]);
    const verdict = classify(new Response(body, { status: 429, headers }), body);
    expect(verdict).toMatchObject({ kind: 'throttled', limit: 'requests', retryAfterMs: 6000 });
  });

  it.each([
    ['express-rate-limit 8.7.4', '1795312750', 'Sun, 22 Nov 2026 01:59:03 GMT', 7000],
    ['GitHub', '1795315600', 'Sun, 22 Nov 2026 02:16:40 GMT', 1_800_000],
  ])('of %s have a time, which counts from the date of the answer', (_, reset, date, resetMs) => {
    const headers = {
      date,
      'x-ratelimit-limit': '60',
      'x-ratelimit-remaining': '59',
      'x-ratelimit-reset': reset,
    };
    const untilMs = Number(reset) * 1000 - Date.parse(date);
    expect(reportedLimits(headers)).toEqual([
      { unit: 'requests', limit: 60, remaining: 59, resetMs: untilMs, isResetTime: true },
    ]);
    expect(untilMs).toBe(resetMs);
  });

  it('may tell what is used instead of the limit, as those of Reddit', () => {
    const told = (remaining: string) =>
      reportedLimits({
        'x-ratelimit-remaining': remaining,
        'x-ratelimit-used': '2',
        'x-ratelimit-reset': '204',
      });
    expect(told('598.0')).toEqual([
      { unit: 'requests', limit: 600, remaining: 598, resetMs: 204_000 },
    ]);
    expect(told('0.0')).toMatchObject([{ limit: 2, remaining: 0 }]);
    expect(told('some')).toEqual([]);
  });

  it('may be spelled `x-rate-limit-*`, as X and Okta do', () => {
    const headers = {
      date: 'Sun, 22 Nov 2026 02:16:40 GMT',
      'x-rate-limit-limit': '900',
      'x-rate-limit-remaining': '0',
      'x-rate-limit-reset': '1795314500',
    };
    const used = {
      unit: 'requests',
      limit: 900,
      remaining: 0,
      resetMs: 700_000,
      isResetTime: true,
    };
    expect(reportedLimits(headers)).toEqual([used]);
    expect(classify(new Response('', { status: 429, headers }))).toMatchObject({
      kind: 'throttled',
      limit: 'requests',
      limits: [used],
    });
  });
});
