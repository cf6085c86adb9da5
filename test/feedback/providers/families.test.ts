import { describe, expect, it } from 'vitest';
import { classify, reportedLimits } from '../../../src/feedback/classify.ts';

const DATE = 'Fri, 02 Jan 2026 03:04:05 GMT';
const DAY_MS = 86_400_000;

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

describe('Groq', () => {
  const headers = {
    'x-groq-region': 'fra',
    'x-ratelimit-limit-requests': '14400',
    'x-ratelimit-limit-tokens': '18000',
    'x-ratelimit-remaining-requests': '14370',
    'x-ratelimit-remaining-tokens': '17997',
    'x-ratelimit-reset-requests': '2m59.56s',
    'x-ratelimit-reset-tokens': '7.66s',
  };
  const limits = [
    { unit: 'requests', limit: 14_400, remaining: 14_370, resetMs: 179_560, windowMs: DAY_MS },
    { unit: 'tokens', limit: 18_000, remaining: 17_997, resetMs: 7660, windowMs: 60_000 },
  ];

  it('counts requests by the day', () => {
    expect(reportedLimits(headers)).toEqual(limits);
    const { 'x-groq-region': _, ...elsewhere } = headers;
    expect(reportedLimits(elsewhere)).toEqual(limits);
    const unused = { ...headers, 'x-ratelimit-remaining-requests': '14400' };
    expect(reportedLimits(unused)).toMatchObject([{ windowMs: DAY_MS }, {}]);
  });

  it('says how long the tokens of a day are used up', () => {
    const message =
      'Rate limit reached for model `x` in organization `org_x` service tier `on_demand` on tokens per day (TPD): Limit 100000, Used 99996, Requested 484. Please try again in 6m54.72s.';
    const error = { error: { message, type: 'tokens', code: 'rate_limit_exceeded' } };
    expect(classify({ status: 429, error })).toMatchObject({
      kind: 'throttled',
      limit: 'tokens per day',
      retryAfterMs: 414_720,
    });
  });

  it('498 is an overload', () => {
    expect(classify({ status: 498 })).toMatchObject({ kind: 'overloaded', retry: true });
  });
});

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

describe('Tinker', () => {
  it('says nothing with 429, and asks again or anew for futures', () => {
    const throttled = { kind: 'throttled', retry: true, status: 429, headers: {} };
    expect(classify({ status: 429, error: { error: 'x', category: 'server' } })).toEqual(throttled);
    const again = { kind: 'failed', retry: true };
    expect(
      classify({ status: 408, body: '{"type":"try_again","queue_state":"active"}' }),
    ).toMatchObject(again);
    expect(classify({ status: 410, body: { error: 'expired', category: 'user' } })).toMatchObject(
      again,
    );
    expect(classify({ status: 410 })).toMatchObject({ kind: 'fatal', retry: false });
    expect(classify({ status: 400, body: { category: 'user' } })).toMatchObject({ kind: 'fatal' });
  });
});

describe('Bedrock', () => {
  const aws = (name: string, httpStatusCode: number, message = 'x', headers = {}) =>
    Object.assign(new Error(message), {
      name,
      $fault: 'client',
      $metadata: { httpStatusCode, attempts: 1 },
      $response: { statusCode: httpStatusCode, headers },
    });

  it.each([
    ['ThrottlingException', 429, 'throttled', true],
    ['ThrottlingException', 400, 'throttled', true],
    ['TooManyRequestsException', 429, 'throttled', true],
    ['ProvisionedThroughputExceededException', 400, 'throttled', true],
    ['ServiceUnavailableException', 503, 'overloaded', true],
    ['ModelNotReadyException', 429, 'overloaded', true],
    ['ModelTimeoutException', 408, 'failed', true],
    ['ModelStreamErrorException', 424, 'failed', true],
    ['InternalServerException', 500, 'failed', true],
    ['ServiceQuotaExceededException', 400, 'fatal', false],
    ['AccessDeniedException', 403, 'fatal', false],
    ['ValidationException', 400, 'fatal', false],
  ])('%s (%i) is %s', (name, status, kind, retry) => {
    expect(classify(aws(name, status))).toMatchObject({ kind, retry, status });
    const overHttp = new Response(null, {
      status,
      headers: { 'x-amzn-errortype': `${name}:http://internal.amazon.com/x/` },
    });
    expect(classify(overHttp)).toMatchObject({ kind, retry });
    expect(classify({ status, body: JSON.stringify({ __type: name }) })).toMatchObject({ kind });
  });

  it('says whether tokens or requests are too many, and of a day', () => {
    const wait = 'please wait before trying again.';
    const throttled = aws('ThrottlingException', 429, `Too many tokens, ${wait}`, {
      'Retry-After': '3',
    });
    expect(classify(throttled)).toMatchObject({
      kind: 'throttled',
      limit: 'tokens',
      retryAfterMs: 3000,
    });
    expect(classify(aws('ThrottlingException', 429, `Too many requests, ${wait}`))).toMatchObject({
      limit: 'requests',
    });
    const daily = aws('ThrottlingException', 429, `Too many tokens per day, ${wait}`);
    expect(classify(daily)).toMatchObject({ kind: 'fatal', retry: false, outage: 'quota' });
  });

  it('is known by the hint of the SDK too', () => {
    const error = Object.assign(new Error('x'), { $retryable: { throttling: true } });
    expect(classify(error)).toMatchObject({ kind: 'throttled', retry: true });
  });
});

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

describe('a text alone', () => {
  it('may say it all', () => {
    const throttled = { kind: 'throttled', retry: true };
    expect(classify('Error 429: Too Many Requests, try again in 2s')).toMatchObject({
      ...throttled,
      retryAfterMs: 2000,
    });
    expect(classify('429 {"error":{"code":"insufficient_quota"}}')).toMatchObject({
      kind: 'fatal',
      outage: 'quota',
    });
    expect(classify('something else')).toEqual({ kind: 'failed', retry: false });
  });

  it.each([
    ['try again in 20ms', 20],
    ['try again in 1.2s', 1200],
    ['try again in 6m0s', 360_000],
    ['Try again in 6m 11.5s.', 371_500],
    ['retry after 1 minute', 60_000],
    ['wait for 2 hours and then', 7_200_000],
    ['wait at least 300 milliseconds', 300],
    ['try again in 1 day, 2 hours', 93_600_000],
  ])('%s: %i ms', (text, ms) => {
    expect(classify({ status: 429, message: text })).toMatchObject({ retryAfterMs: ms });
  });

  it.each([
    'try again in 0s',
    'try again in a bit',
    'try again in 5',
    'try again in 5 bananas',
    'try again later',
  ])('%s: no time', (text) => {
    expect(classify({ status: 429, message: text }).retryAfterMs).toBeUndefined();
  });
});
