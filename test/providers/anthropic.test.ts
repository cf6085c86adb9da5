import Anthropic from '@anthropic-ai/sdk';
import { describe, expect, it } from 'vitest';
import { classify, reportedLimits } from '../../src/providers/classify.ts';

const DATE = 'Fri, 02 Jan 2026 03:04:05 GMT';

/** An error as Anthropic's SDK makes it of an answer. */
function sdkError(status: number, error: object, headers: Record<string, string> = {}) {
  const body = { type: 'error', error, request_id: 'req_1' };
  return Anthropic.APIError.generate(status, body, undefined, new Headers(headers) as never);
}

const RATE = {
  type: 'rate_limit_error',
  message:
    "This request would exceed your organization's rate limit of 50,000 input tokens per minute.",
};

describe('the headers of Anthropic', () => {
  const headers = {
    date: DATE,
    'anthropic-ratelimit-requests-limit': '50',
    'anthropic-ratelimit-requests-remaining': '49',
    'anthropic-ratelimit-requests-reset': '2026-01-02T03:04:06Z',
    'anthropic-ratelimit-tokens-limit': '60000',
    'anthropic-ratelimit-tokens-remaining': '30000',
    'anthropic-ratelimit-tokens-reset': '2026-01-02T03:04:35Z',
    'anthropic-ratelimit-input-tokens-limit': '50000',
    'anthropic-ratelimit-input-tokens-remaining': '0',
    'anthropic-ratelimit-input-tokens-reset': '2026-01-02T03:05:05.5Z',
    'anthropic-ratelimit-output-tokens-limit': '10000',
    'anthropic-ratelimit-output-tokens-remaining': '10000',
    'anthropic-ratelimit-output-tokens-reset': '2026-01-02T03:04:05Z',
  };
  const windowMs = 60_000;
  const isResetTime = true;
  const limits = [
    { unit: 'requests', limit: 50, remaining: 49, resetMs: 1000, isResetTime, windowMs },
    { unit: 'tokens', limit: 60_000, remaining: 30_000, resetMs: 30_000, isResetTime, windowMs },
    { unit: 'input-tokens', limit: 50_000, remaining: 0, resetMs: 60_500, isResetTime, windowMs },
    // The second of the answer itself: part of it has passed.
    { unit: 'output-tokens', limit: 10_000, remaining: 10_000, isResetTime, windowMs },
  ];

  it('count from the date of the response', () => {
    expect(reportedLimits(new Headers(headers), 0)).toEqual(limits);
    expect(reportedLimits(headers)).toEqual(limits);
  });

  it('count from the time given where it has no date', () => {
    const { date, ...undated } = headers;
    expect(reportedLimits(undated, Date.parse(date))).toEqual(limits);
  });

  it('say so where a reset has passed while the answer was under way', () => {
    const late = { ...headers, date: 'Fri, 02 Jan 2026 03:04:10 GMT' };
    const [requests] = reportedLimits(late);
    expect(requests).toEqual({ unit: 'requests', limit: 50, remaining: 49, isResetTime, windowMs });
  });

  it('are not believed where a clock must be wrong', () => {
    const years = { ...headers, date: 'Sun, 06 Nov 1994 08:49:37 GMT' };
    for (const { resetMs } of reportedLimits(years)) expect(resetMs).toBeUndefined();
    const later = { ...headers, date: 'Sat, 01 Jan 2050 00:00:00 GMT' };
    for (const limit of reportedLimits(later)) {
      expect(limit).not.toHaveProperty('resetMs');
      expect(limit).not.toHaveProperty('isResetTime');
    }
  });

  it('name the limit that was hit', () => {
    const thrown = sdkError(429, { type: 'rate_limit_error', message: 'Rate limited' }, headers);
    expect(classify(thrown)).toMatchObject({ kind: 'throttled', limit: 'input-tokens', limits });
  });
});

describe('the errors of Anthropic', () => {
  it.each([
    [RATE.message, 'input-tokens'],
    ['… exceed your rate limit of 8,000 output tokens per minute.', 'output-tokens'],
    ['… exceed your rate limit of 50 requests per minute.', 'requests'],
    ['Number of request tokens has exceeded your per-minute rate limit', 'tokens'],
    ['Number of concurrent connections has exceeded your rate limit.', 'concurrency'],
  ])('%s', (message, limit) => {
    const thrown = sdkError(429, { type: 'rate_limit_error', message }, { 'retry-after': '13' });
    const verdict = { kind: 'throttled', retry: true, retryAfterMs: 13_000, limit };
    expect(classify(thrown)).toMatchObject(verdict);
  });

  it('529 is an overload, and so is the same inside a stream', () => {
    const overloaded = { type: 'overloaded_error', message: 'Overloaded' };
    expect(classify(sdkError(529, overloaded))).toMatchObject({ kind: 'overloaded', retry: true });
    // The SDK throws these without a status.
    const inStream = new Anthropic.APIError(
      undefined,
      { type: 'error', error: overloaded },
      undefined,
      undefined,
    );
    expect(classify(inStream)).toMatchObject({ kind: 'overloaded', retry: true });
    const broken = { type: 'error', error: { type: 'api_error', message: 'Internal' } };
    expect(classify(broken)).toMatchObject({ kind: 'failed', retry: true });
  });

  it('a spend cap is final, and says when it ends', () => {
    const capped = sdkError(
      429,
      {
        type: 'rate_limit_error',
        message:
          'You have reached your API usage limits: the threshold of a month. You will regain access on 2026-02-01 at 00:00 UTC.',
        details: { error_code: 'enforced_spend_limit_reached' },
      },
      { date: DATE, 'retry-after': '5' },
    );
    const verdict = { kind: 'fatal', retry: false, outage: 'quota' };
    const untilThen = Date.UTC(2026, 1, 1) - Date.parse(DATE);
    expect(classify(capped)).toMatchObject({ ...verdict, retryAfterMs: untilThen });
    const own = {
      type: 'invalid_request_error',
      message: 'You have reached your specified API usage limits.',
    };
    expect(classify(sdkError(400, own))).toMatchObject(verdict);
  });

  it('money that is missing is final', () => {
    const billing = { kind: 'fatal', retry: false, outage: 'billing' };
    const credit = 'Your credit balance is too low to access the Anthropic API.';
    const error = { type: 'invalid_request_error', message: credit };
    expect(classify(sdkError(400, error))).toMatchObject(billing);
    expect(classify(sdkError(402, { type: 'billing_error' }))).toMatchObject(billing);
  });

  it('of the connection are passing', () => {
    const failed = { kind: 'failed', retry: true };
    const late = { ...failed, timedOut: true };
    expect(classify(new Anthropic.APIConnectionTimeoutError())).toEqual(late);
    const broken = { ...failed, connection: 'broken' };
    expect(classify(new Anthropic.APIConnectionError({ message: 'x' }))).toEqual(broken);
    expect(classify(new Anthropic.APIUserAbortError())).toEqual({ kind: 'failed', retry: false });
  });
});
