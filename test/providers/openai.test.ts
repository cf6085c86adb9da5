import OpenAI from 'openai';
import { describe, expect, it } from 'vitest';
import { classify, reportedLimits } from '../../src/providers/classify.ts';

const DAY_MS = 86_400_000;

/** An error as OpenAI's SDK makes it of an answer. */
function sdkError(status: number, body: unknown, headers: Record<string, string> = {}) {
  return OpenAI.APIError.generate(status, body as object, undefined, new Headers(headers) as never);
}

describe('the headers of OpenAI', () => {
  it('are read as its guide to rate limits has them', () => {
    const headers = {
      'x-ratelimit-limit-requests': '60',
      'x-ratelimit-limit-tokens': '150000',
      'x-ratelimit-remaining-requests': '59',
      'x-ratelimit-remaining-tokens': '149984',
      'x-ratelimit-reset-requests': '1s',
      'x-ratelimit-reset-tokens': '6m0s',
    };
    const limits = [
      { unit: 'requests', limit: 60, remaining: 59, resetMs: 1000, windowMs: 60_000 },
      { unit: 'tokens', limit: 150_000, remaining: 149_984, resetMs: 360_000, windowMs: 60_000 },
    ];
    expect(reportedLimits(new Headers(headers))).toEqual(limits);
    expect(reportedLimits(headers)).toEqual(limits);
    expect(reportedLimits(new Map(Object.entries(headers)))).toEqual(limits);
    const named = Object.entries(headers).map(
      ([name, value]) => [name.toUpperCase(), value] as const,
    );
    expect(reportedLimits(Object.fromEntries(named))).toEqual(limits);
    expect(reportedLimits(new Map(named))).toEqual(limits);
    expect(classify(sdkError(429, {}, headers))).toMatchObject({ kind: 'throttled', limits });
  });

  it.each([
    ['20ms', 20],
    ['1s', 1000],
    ['6m0s', 360_000],
    ['1h2m3.5s', 3_723_500],
    ['8.64s', 8640],
    ['2d3h', 183_600_000],
    ['7', 7000],
    ['0s', 0],
  ])('a reset of %s is %i ms', (text, resetMs) => {
    const headers = {
      'x-ratelimit-remaining-tokens': '5',
      'x-ratelimit-reset-tokens': text,
    };
    expect(reportedLimits(headers)).toMatchObject([{ unit: 'tokens', remaining: 5, resetMs }]);
  });

  it.each(['', 'soon', '-1s', '1e3s', 'NaN', 's', '1s2m', '1x', '9'.repeat(100), '١s'])(
    'a reset of %j is none',
    (text) => {
      const headers = {
        'x-ratelimit-remaining-tokens': '5',
        'x-ratelimit-reset-tokens': text,
      };
      const limit = { unit: 'tokens', remaining: 5, windowMs: 60_000 };
      expect(reportedLimits(headers)).toEqual([limit]);
    },
  );

  it.each(['', '-1', 'many', 'NaN', 'Infinity', '1e9', '0x10', '5;q=1'])(
    'a limit of %j is none',
    (text) => {
      const headers = { 'x-ratelimit-limit-tokens': text, 'x-ratelimit-reset-tokens': '1s' };
      expect(reportedLimits(headers)).toEqual([]);
    },
  );

  it('may be of a day, which the reset tells', () => {
    const headers = {
      'x-ratelimit-limit-requests': '10000',
      'x-ratelimit-remaining-requests': '9999',
      'x-ratelimit-reset-requests': '8.64s',
    };
    expect(reportedLimits(headers)).toMatchObject([{ windowMs: DAY_MS }]);
  });

  it('that are missing are no limits', () => {
    for (const headers of [{}, new Headers({ date: 'x' }), null, undefined, 7, 'x', []]) {
      expect(reportedLimits(headers)).toEqual([]);
    }
  });
});

describe('the errors of OpenAI', () => {
  const message = 'You exceeded your current quota, please check your plan and billing details.';

  it.each([
    ['insufficient_quota', 'insufficient_quota', 'quota'],
    ['organization_usage_limit_exceeded', 'insufficient_quota', 'quota'],
    ['project_spend_limit_exceeded', 'rate_limit_error', 'quota'],
    ['credit_balance_exhausted', 'insufficient_quota', 'billing'],
    ['billing_hard_limit_reached', 'invalid_request_error', 'billing'],
  ])('%s is final', (code, type, outage) => {
    const thrown = sdkError(429, { error: { message, type, param: null, code } });
    expect(classify(thrown)).toMatchObject({ kind: 'fatal', retry: false, outage });
  });

  it('say which limit was hit, and when to come back', () => {
    const text =
      'Rate limit reached for gpt-4o in organization org-x on tokens per min (TPM): Limit 30000, Used 29000, Requested 2000. Please try again in 1.2s. Visit the page of limits to learn more.';
    const body = { error: { message: text, type: 'tokens', code: 'rate_limit_exceeded' } };
    const verdict = { kind: 'throttled', retry: true, limit: 'tokens', retryAfterMs: 1200 };
    expect(classify(sdkError(429, body))).toMatchObject(verdict);
    expect(classify(sdkError(429, body, { 'retry-after-ms': '70' }))).toMatchObject({
      ...verdict,
      retryAfterMs: 70,
    });
    // As the Responses API has them in a stream, without a status.
    expect(classify({ ...body.error, type: 'error' })).toMatchObject(verdict);
  });

  it('may be of a request that is too large ever to pass', () => {
    const text =
      'Request too large for gpt-4 in organization org-x on tokens per min (TPM): Limit 10000, Requested 20000.';
    const body = { error: { message: text, type: 'tokens', code: 'rate_limit_exceeded' } };
    expect(classify(sdkError(429, body))).toMatchObject({ kind: 'fatal', retry: false });
  });

  it('are overloads where they say so, and throttle where traffic rose too fast', () => {
    const slower = {
      error: { message: 'Slow down.', type: 'rate_limit_error', code: 'slow_down' },
    };
    expect(classify(sdkError(429, slower))).toMatchObject({ kind: 'throttled', retry: true });
    const busy = { error: { type: 'service_unavailable_error', code: 'server_is_overloaded' } };
    expect(classify(sdkError(503, busy))).toMatchObject({ kind: 'overloaded', retry: true });
    expect(classify(busy)).toMatchObject({ kind: 'overloaded', retry: true });
  });

  it('of the connection are passing', () => {
    const failed = { kind: 'failed', retry: true };
    const late = { ...failed, timedOut: true };
    expect(classify(new OpenAI.APIConnectionTimeoutError())).toEqual(late);
    const broken = { ...failed, connection: 'broken' };
    expect(classify(new OpenAI.APIConnectionError({ message: 'x' }))).toEqual(broken);
    expect(classify(new OpenAI.APIUserAbortError())).toEqual({ kind: 'failed', retry: false });
  });
});
