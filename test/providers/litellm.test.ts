import { describe, expect, it } from 'vitest';
import { classify, reportedLimits } from '../../src/providers/classify.ts';

const CALL = { 'x-litellm-call-id': '2604add3-27e4-492b-9970-8a7751e6403f' };
const MINUTE = { windowMs: 60_000 };

/** A 429 of the proxy's own limiter, as version 1.106.2 sends it. */
function refused(type: string, limit: number, remaining: number) {
  const headers = {
    ...CALL,
    'content-type': 'application/json',
    date: 'Sun, 22 Nov 2026 02:08:17 GMT',
    'retry-after': '60',
    rate_limit_type: type,
    reset_at: '2026-11-22 02:09:18 UTC',
  };
  const message = `Rate limit exceeded for api_key: 29a3870cc13cd983. Limit type: ${type}. Current limit: ${limit}, Remaining: ${remaining}. Limit resets at: 2026-11-22 02:09:18 UTC`;
  const error = { message, type: 'throttling_error', param: null, code: '429' };
  return { headers, body: JSON.stringify({ error }) };
}

describe('the limits of the LiteLLM proxy 1.106.2', () => {
  it('are of the key, the team and others, the smallest first', () => {
    const headers = {
      ...CALL,
      'x-ratelimit-team-limit-requests': '50',
      'x-ratelimit-team-remaining-requests': '49',
      'x-ratelimit-api_key-limit-requests': '2',
      'x-ratelimit-api_key-limit-tokens': '1000',
      'x-ratelimit-api_key-remaining-requests': '1',
      'x-ratelimit-api_key-remaining-tokens': '996',
      'x-ratelimit-model_per_key-limit-requests': '7',
      'x-ratelimit-model_per_key-remaining-requests': '7',
    };
    expect(reportedLimits(headers)).toEqual([
      { unit: 'requests', limit: 2, remaining: 1, ...MINUTE },
      { unit: 'requests', limit: 7, remaining: 7, ...MINUTE },
      { unit: 'requests', limit: 50, remaining: 49, ...MINUTE },
      { unit: 'tokens', limit: 1000, remaining: 996, ...MINUTE },
    ]);
  });

  it('may be of what is in flight, and then the provider behind it paces', () => {
    const headers = {
      ...CALL,
      'llm_provider-x-ratelimit-limit-requests': '60',
      'llm_provider-x-ratelimit-limit-tokens': '1000',
      'llm_provider-x-ratelimit-remaining-requests': '59',
      'llm_provider-x-ratelimit-remaining-tokens': '990',
      'llm_provider-x-ratelimit-reset-requests': '1s',
      'llm_provider-x-ratelimit-reset-tokens': '600ms',
      'x-ratelimit-api_key-limit-max_parallel_requests': '1',
      'x-ratelimit-api_key-remaining-max_parallel_requests': '0',
      'x-ratelimit-limit-requests': '60',
      'x-ratelimit-limit-tokens': '1000',
      'x-ratelimit-remaining-requests': '59',
      'x-ratelimit-remaining-tokens': '990',
    };
    expect(reportedLimits(headers)).toEqual([
      { unit: 'concurrency', limit: 1, remaining: 0 },
      { unit: 'requests', limit: 60, remaining: 59, resetMs: 1000, ...MINUTE },
      { unit: 'tokens', limit: 1000, remaining: 990, resetMs: 600, ...MINUTE },
    ]);
  });

  it('go before those of the provider behind it', () => {
    const headers = {
      ...CALL,
      'x-ratelimit-api_key-limit-requests': '2',
      'llm_provider-anthropic-ratelimit-requests-limit': '50',
      'llm_provider-anthropic-ratelimit-tokens-limit': '40000',
    };
    expect(reportedLimits(headers)).toEqual([
      { unit: 'requests', limit: 2, ...MINUTE },
      { unit: 'tokens', limit: 40_000, ...MINUTE },
    ]);
  });

  it.each(['-1', 'None', '1e9', ''])('of %j are none', (text) => {
    expect(reportedLimits({ ...CALL, 'x-ratelimit-api_key-limit-requests': text })).toEqual([]);
  });
});

describe('a 429 of the LiteLLM proxy 1.106.2', () => {
  it.each([
    ['requests', 'requests', 2, 0],
    ['tokens', 'tokens', 5, 1],
  ])('that names %s is of these', (type, unit, limit, remaining) => {
    const { headers, body } = refused(type, limit, remaining);
    expect(classify(new Response(body, { status: 429, headers }), body)).toMatchObject({
      kind: 'throttled',
      retry: true,
      limit: unit,
      limits: [{ unit, limit, remaining, ...MINUTE }],
      retryAfterMs: 60_000,
    });
  });

  it('that names max_parallel_requests is a cap, and the length of the window no wait', () => {
    const { headers, body } = refused('max_parallel_requests', 1, 0);
    const verdict = classify(new Response(body, { status: 429, headers }), body);
    expect(verdict).toMatchObject({ kind: 'throttled', retry: true, limit: 'concurrency' });
    expect(verdict.limits).toEqual([{ unit: 'concurrency', limit: 1, remaining: 0 }]);
    expect(verdict.retryAfterMs).toBeUndefined();
    // Some proxies before it drop headers with underscores, some clients the body.
    const { rate_limit_type: _, ...others } = headers;
    expect(classify({ status: 429, headers: others, error: JSON.parse(body).error })).toMatchObject(
      { limit: 'concurrency' },
    );
    const bare = classify({ status: 429, headers });
    expect(bare).toMatchObject({ kind: 'throttled', limit: 'concurrency' });
    expect(bare.retryAfterMs).toBeUndefined();
    const detail = { error: 'Rate limit exceeded', rate_limit_type: 'max_parallel_requests' };
    expect(classify({ status: 429, error: { detail: '', ...detail } })).toMatchObject({
      limit: 'concurrency',
    });
  });

  it('of the provider behind it is judged by the words and the wait of that', () => {
    const headers = {
      ...CALL,
      'content-type': 'application/json',
      'llm_provider-date': 'Sun, 22 Nov 2026 02:09:09 GMT',
      'llm_provider-retry-after': '7',
      'llm_provider-x-ratelimit-limit-requests': '60',
      'llm_provider-x-ratelimit-remaining-requests': '0',
      'llm_provider-x-ratelimit-reset-requests': '7s',
      'llm_provider-x-should-retry': 'true',
      'x-ratelimit-limit-requests': '60',
      'x-ratelimit-remaining-requests': '0',
    };
    const message =
      "litellm.RateLimitError: RateLimitError: OpenAIException - Rate limit reached for gpt-4o on requests per min (RPM): Limit 60, Used 60, Requested 1.\n\nLiteLLM: model group 'busy' failed with the error above. No fallback was attempted.";
    const body = JSON.stringify({
      error: { message, type: 'throttling_error', param: null, code: '429' },
    });
    expect(classify(new Response(body, { status: 429, headers }), body)).toMatchObject({
      kind: 'throttled',
      retry: true,
      limit: 'requests',
      retryAfterMs: 7000,
      limits: [{ unit: 'requests', limit: 60, remaining: 0, resetMs: 7000, ...MINUTE }],
    });
    const final = { ...headers, 'llm_provider-x-should-retry': 'false' };
    expect(classify({ status: 429, headers: final }).retry).toBe(false);
  });

  it('whose type is none of its own is one like any other', () => {
    const headers = { ...CALL, 'retry-after': '9', rate_limit_type: '__proto__' };
    const verdict = classify({ status: 429, headers });
    expect(verdict).toMatchObject({ kind: 'throttled', retryAfterMs: 9000 });
    expect(verdict.limit).toBeUndefined();
  });
});

describe('the texts of other limiters of the LiteLLM proxy', () => {
  const limitOf = (message: string) =>
    classify({ status: 429, headers: { 'retry-after': '41.5' }, error: { message } });
  const crossed = (counts: string) =>
    `LiteLLM Rate Limit Handler for rate limit type = key. Crossed TPM / RPM / Max Parallel Request Limit. ${counts}`;
  const MOST = '9223372036854775807';

  it.each([
    [
      crossed(
        `current rpm: 3, rpm limit: ${MOST}, current tpm: 9, tpm limit: ${MOST}, current max_parallel_requests: 3, max_parallel_requests: 3`,
      ),
      'concurrency',
    ],
    [
      crossed(
        `current rpm: 3, rpm limit: 3, current tpm: 90, tpm limit: 80, current max_parallel_requests: 1, max_parallel_requests: ${MOST}`,
      ),
      'tokens',
    ],
    [
      crossed(
        `current rpm: 3, rpm limit: 3, current tpm: 9, tpm limit: 80, current max_parallel_requests: 1, max_parallel_requests: ${MOST}`,
      ),
      'requests',
    ],
    ['Max parallel request limit reached Hit Global Limit: Limit=5, current: 5', 'concurrency'],
    [
      'Model capacity reached for m. Priority: None, Rate limit type: tokens, Model TPM: 100, Model RPM: not configured, Remaining: 0',
      'tokens',
    ],
  ])('%s', (message, limit) => {
    const verdict = limitOf(message);
    expect(verdict).toMatchObject({ kind: 'throttled', limit });
    expect(verdict.retryAfterMs).toBe(limit === 'concurrency' ? undefined : 41_500);
  });

  it('say nothing in an answer of another status', () => {
    const { headers, body } = refused('tokens', 5, 0);
    expect(classify({ status: 400, headers, error: JSON.parse(body).error })).toMatchObject({
      kind: 'fatal',
    });
  });
});
