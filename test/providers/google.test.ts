import { describe, expect, it } from 'vitest';
import { classify } from '../../src/providers/classify.ts';

const QUOTA_FAILURE = 'type.googleapis.com/google.rpc.QuotaFailure';
const ERROR_INFO = 'type.googleapis.com/google.rpc.ErrorInfo';
const RETRY_INFO = 'type.googleapis.com/google.rpc.RetryInfo';

function body(quotaIds: readonly string[], retryDelay?: string, quotaValue = '15') {
  const violations = quotaIds.map((quotaId) => ({
    quotaMetric: 'generativelanguage.googleapis.com/generate_content_free_tier_requests',
    quotaId,
    quotaDimensions: { location: 'global', model: 'gemini' },
    quotaValue,
  }));
  return {
    error: {
      code: 429,
      message: 'You exceeded your current quota, please check your plan and billing details.',
      status: 'RESOURCE_EXHAUSTED',
      details: [
        { '@type': QUOTA_FAILURE, violations },
        { '@type': 'type.googleapis.com/google.rpc.Help', links: [{ description: 'x' }] },
        ...(retryDelay === undefined ? [] : [{ '@type': RETRY_INFO, retryDelay }]),
      ],
    },
  };
}

const PER_MINUTE = 'GenerateRequestsPerMinutePerProjectPerModel-FreeTier';
const PER_DAY = 'GenerateRequestsPerDayPerProjectPerModel-FreeTier';

/** The same body in the errors of the clients that there are. */
const clients: [string, (json: unknown) => unknown][] = [
  ['fetch', (json) => json],
  [
    'Google GenAI',
    (json) => Object.assign(new Error(JSON.stringify(json)), { name: 'ApiError', status: 429 }),
  ],
  [
    'Google GenAI, in a stream: the body as a text in the message of another',
    (json) => {
      const message = JSON.stringify({
        error: { message: JSON.stringify(json, null, 2), code: 429, status: 'Too Many Requests' },
      });
      return Object.assign(new Error(message), { status: 429 });
    },
  ],
  [
    'the Vercel AI SDK, whose parsed data has no details',
    (json) =>
      Object.assign(new Error('You exceeded your current quota'), {
        statusCode: 429,
        responseHeaders: {},
        responseBody: JSON.stringify(json),
        data: { error: { code: 429, message: 'x', status: 'RESOURCE_EXHAUSTED' } },
      }),
  ],
  [
    'gaxios, with a list as its text',
    (json) =>
      Object.assign(new Error('x'), {
        code: 429,
        response: { status: 429, data: `[${JSON.stringify(json)}]` },
      }),
  ],
  [
    'the older generative-ai package',
    (json) =>
      Object.assign(
        new Error(
          `[GoogleGenerativeAI Error]: Error fetching: [429 Too Many Requests] You exceeded it. ${JSON.stringify((json as ReturnType<typeof body>).error.details)}`,
        ),
        { status: 429 },
      ),
  ],
];

describe.each(clients)('an error of Google by %s', (_, thrownBy) => {
  it('of a minute waits as long as RetryInfo says', () => {
    expect(classify(thrownBy(body([PER_MINUTE], '22s')))).toMatchObject({
      kind: 'throttled',
      retry: true,
      retryAfterMs: 22_000,
      limit: PER_MINUTE,
      limits: [{ unit: 'requests', limit: 15, windowMs: 60_000 }],
    });
  });

  it('of a wrong key, a 400, says that every request is refused', () => {
    const reason = 'API_KEY_INVALID';
    const details = [{ '@type': ERROR_INFO, reason, domain: 'googleapis.com' }];
    const message = 'API key not valid. Please pass a valid API key.';
    const error = { code: 400, message, status: 'INVALID_ARGUMENT', details };
    expect(classify(thrownBy({ error }))).toMatchObject({
      kind: 'fatal',
      retry: false,
      outage: 'authorisation',
    });
  });

  it('of a day is final, whatever the delay beside it says', () => {
    const verdict = classify(thrownBy(body([PER_MINUTE, PER_DAY], '36s', '20')));
    expect(verdict).toMatchObject({
      kind: 'fatal',
      retry: false,
      outage: 'quota',
      limit: PER_DAY,
    });
    expect(verdict.retryAfterMs).toBeUndefined();
  });
});

describe('an error of Google', () => {
  it.each([
    ['0.5s', 500],
    ['36.429760048s', 36_429.760048],
    ['3600s', 3_600_000],
  ])('with a delay of %s', (delay, ms) => {
    expect(classify(body([], delay)).retryAfterMs).toBeCloseTo(ms);
  });

  it.each(['', '0s', '-5s', 'soon', '5'])('with a delay of %j has none', (delay) => {
    expect(classify(body([], delay)).retryAfterMs).toBeUndefined();
  });

  it('may have its delay in the message alone', () => {
    const error = { code: 429, message: 'Please retry in 36.5s.', status: 'RESOURCE_EXHAUSTED' };
    expect(classify({ error })).toMatchObject({ kind: 'throttled', retryAfterMs: 36_500 });
  });

  it('names the quota by ErrorInfo too', () => {
    const details = [
      {
        '@type': 'type.googleapis.com/google.rpc.ErrorInfo',
        reason: 'RATE_LIMIT_EXCEEDED',
        metadata: { quota_limit: 'ProRequestsPerDay', quota_limit_value: '1000' },
      },
    ];
    const error = { code: 429, status: 'RESOURCE_EXHAUSTED', details };
    expect(classify({ error })).toMatchObject({ kind: 'fatal', limit: 'ProRequestsPerDay' });
  });

  it('tells tokens from requests by the name of the quota', () => {
    const input = 'GenerateContentInputTokensPerModelPerMinute-PaidTier';
    expect(classify(body([input], '2s', '250000')).limits).toEqual([
      { unit: 'input-tokens', limit: 250_000, windowMs: 60_000 },
    ]);
  });

  it.each([
    [503, 'UNAVAILABLE', 'overloaded', undefined],
    [403, 'PERMISSION_DENIED', 'fatal', 'authorisation'],
    [400, 'INVALID_ARGUMENT', 'fatal', undefined],
    [500, 'INTERNAL', 'failed', undefined],
  ])('%i %s', (code, status, kind, outage) => {
    const verdict = classify({ error: { code, status, message: 'x' } });
    expect(verdict.kind).toBe(kind);
    expect(verdict.outage).toBe(outage);
  });
});
