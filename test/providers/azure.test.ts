import { describe, expect, it } from 'vitest';
import { classify, reportedLimits } from '../../src/providers/classify.ts';

describe('Azure', () => {
  const headers = {
    'apim-request-id': '0b1c',
    'x-ratelimit-limit-requests': '20',
    'x-ratelimit-remaining-requests': '19',
    'x-ratelimit-reset-requests': '3',
    'x-ratelimit-renewalperiod-requests': '10',
    'x-ratelimit-limit-tokens': '20000',
    'x-ratelimit-remaining-tokens': '19962',
  };

  it('says its window, or leaves it open', () => {
    expect(reportedLimits(headers)).toEqual([
      { unit: 'requests', limit: 20, remaining: 19, resetMs: 3000, windowMs: 10_000 },
      { unit: 'tokens', limit: 20_000, remaining: 19_962 },
    ]);
  });

  it('keeps a window that the limit itself names', () => {
    const named = { 'apim-request-id': '0b1c', 'x-ratelimit-limit-tokens': '60;w=60' };
    expect(reportedLimits(named)).toEqual([{ unit: 'tokens', limit: 60, windowMs: 60_000 }]);
  });

  it.each(['-1', '0'])('is not believed about %s', (value) => {
    const odd = {
      ...headers,
      'x-ratelimit-limit-requests': value,
      'x-ratelimit-remaining-requests': value,
      'x-ratelimit-remaining-tokens': value,
    };
    expect(reportedLimits(odd)).toEqual([{ unit: 'tokens', limit: 20_000 }]);
  });

  it('says in words when to come again', () => {
    const message =
      'Requests to the ChatCompletions_Create Operation have exceeded token rate limit of your current OpenAI S0 pricing tier. Please retry after 6 seconds.';
    const error = { status: 429, code: '429', error: { code: '429', message } };
    expect(classify(error)).toMatchObject({ kind: 'throttled', retryAfterMs: 6000 });
  });
});
