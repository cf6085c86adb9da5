import { describe, expect, it } from 'vitest';
import { classify } from '../../src/providers/classify.ts';

const SECOND_MS = 1_000;
const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;

const throttled = { kind: 'throttled', retry: true };
const overloaded = { kind: 'overloaded', retry: true };
const unpaid = { kind: 'fatal', retry: false, outage: 'billing' };
const usedUp = { kind: 'fatal', retry: false, outage: 'quota' };

/** What APIs were seen to answer: the status, the body, and what it means. */
const ANSWERS: readonly (readonly [name: string, status: number, body: object, verdict: object])[] =
  [
    [
      'Gemini, a wait in nanoseconds',
      429,
      {
        error: {
          code: 429,
          status: 'RESOURCE_EXHAUSTED',
          details: [
            { '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '45.837906927s' },
          ],
        },
      },
      { ...throttled, retryAfterMs: expect.closeTo(45_837.9, 1) },
    ],
    [
      'Gemini, tokens of a minute in words of billing',
      429,
      {
        error: {
          code: 429,
          message:
            'You exceeded your current quota, please check your plan and billing details.\nPlease retry in 59.44s.',
          status: 'RESOURCE_EXHAUSTED',
          details: [
            {
              violations: [
                {
                  quotaId: 'GenerateContentPaidTierInputTokensPerModelPerMinute',
                  quotaValue: '1000000',
                },
              ],
            },
            { retryDelay: '59s' },
          ],
        },
      },
      {
        ...throttled,
        retryAfterMs: 59 * SECOND_MS,
        limits: [{ unit: 'input-tokens', limit: 1_000_000, windowMs: MINUTE_MS }],
      },
    ],
    [
      'Gemini Code Assist, a quota of hours',
      429,
      {
        error: {
          code: 429,
          message: 'You have exhausted your capacity on this model.',
          status: 'RESOURCE_EXHAUSTED',
          details: [
            {
              '@type': 'type.googleapis.com/google.rpc.ErrorInfo',
              reason: 'QUOTA_EXHAUSTED',
              metadata: { quotaResetDelay: '3h12m5.5s' },
            },
          ],
        },
      },
      { ...throttled, retryAfterMs: 11_525_500 },
    ],
    [
      'Gemini Code Assist, in words',
      429,
      { error: { code: 429, message: 'Your quota will reset after 3h12m5s.' } },
      { ...throttled, retryAfterMs: 11_525_000 },
    ],
    [
      'Anthropic, the limit in words',
      429,
      {
        error: {
          type: 'rate_limit_error',
          message:
            "This request would exceed your organization's rate limit of 30,000 input tokens per minute (org: 1).",
        },
      },
      {
        ...throttled,
        limit: 'input-tokens',
        limits: [{ unit: 'input-tokens', limit: 30_000, windowMs: MINUTE_MS }],
      },
    ],
    [
      'Anthropic, a context that the plan does not include',
      429,
      {
        error: {
          type: 'rate_limit_error',
          message: 'Extra usage is required for long context requests.',
        },
      },
      { kind: 'fatal', retry: false },
    ],
    [
      'OpenRouter, a provider behind it',
      429,
      {
        error: {
          message: 'Provider returned error',
          code: 429,
          metadata: { raw: 'a-model:free is temporarily rate-limited upstream.' },
        },
      },
      throttled,
    ],
    [
      'GitHub Models, of a minute',
      429,
      {
        error: {
          code: 'RateLimitReached',
          message:
            'Rate limit of 15 per 60s exceeded for UserByModelByMinute. Please wait 13 seconds before retrying.',
        },
      },
      {
        ...throttled,
        retryAfterMs: 13 * SECOND_MS,
        limit: 'requests',
        limits: [{ unit: 'requests', limit: 15, windowMs: MINUTE_MS }],
      },
    ],
    [
      'GitHub Models, of a day',
      429,
      {
        error: {
          code: 'RateLimitReached',
          message:
            'Rate limit of 150 per 86400s exceeded for UserByModelByDay. Please wait 51511 seconds before retrying.',
        },
      },
      { ...throttled, retryAfterMs: 51_511 * SECOND_MS },
    ],
    [
      'xAI, requests',
      429,
      {
        error: "Too many requests for team 1 and model m. Your team's rate limit is 480 req/min.",
      },
      {
        ...throttled,
        limit: 'requests',
        limits: [{ unit: 'requests', limit: 480, windowMs: MINUTE_MS }],
      },
    ],
    [
      'xAI, tokens',
      429,
      { error: "Your team's tokens per minute (TPM) — actual/limit: 2012345/2000000" },
      { ...throttled, limit: 'tokens' },
    ],
    [
      'Moonshot, requests in flight',
      429,
      {
        error: {
          message:
            'request reached max organization concurrency: 3, please try again after 1 seconds',
          type: 'rate_limit_reached_error',
        },
      },
      { ...throttled, retryAfterMs: SECOND_MS, limit: 'concurrency' },
    ],
    [
      'Moonshot, requests of a minute',
      429,
      {
        error: {
          message: 'request reached organization max RPM: 3, please try again after 20 seconds',
          type: 'rate_limit_reached_error',
        },
      },
      { ...throttled, retryAfterMs: 20 * SECOND_MS, limit: 'requests' },
    ],
    ['Moonshot, no balance', 429, { error: { type: 'exceeded_current_quota_error' } }, unpaid],
    ['Moonshot, overloaded', 429, { error: { type: 'engine_overloaded_error' } }, overloaded],
    [
      'Model Studio, requests',
      429,
      { code: 'Throttling.RateQuota', message: 'Requests rate limit exceeded.' },
      { ...throttled, limit: 'requests' },
    ],
    [
      'Model Studio, tokens',
      429,
      { code: 'Throttling.AllocationQuota', message: 'Allocated quota exceeded.' },
      { ...throttled, limit: 'tokens' },
    ],
    [
      'Model Studio in the form of OpenAI',
      429,
      { error: { type: 'limit_requests', code: 'limit_requests' } },
      { ...throttled, limit: 'requests' },
    ],
    ['Model Studio, no balance', 400, { code: 'Arrearage', message: 'Access denied.' }, unpaid],
    [
      'Z.ai, requests in flight',
      429,
      { error: { code: '1302', message: 'High concurrency usage of this API.' } },
      { ...throttled, limit: 'concurrency' },
    ],
    [
      'Z.ai, the same in Chinese',
      429,
      { error: { code: '1302', message: '您当前使用该API的并发数过高，请降低并发' } },
      { ...throttled, limit: 'concurrency' },
    ],
    [
      'Z.ai, no balance',
      429,
      { error: { code: '1113', message: 'Insufficient balance or no resource package.' } },
      unpaid,
    ],
    ['DeepSeek, no balance', 402, { error: { message: 'Insufficient Balance' } }, unpaid],
    [
      'Replicate',
      429,
      {
        detail:
          'Request was throttled. Your rate limit for creating predictions is reduced to 6 requests per minute. Your rate limit resets in ~30s.',
        status: 429,
      },
      {
        ...throttled,
        retryAfterMs: 30 * SECOND_MS,
        limits: [{ unit: 'requests', limit: 6, windowMs: MINUTE_MS }],
      },
    ],
    [
      'a wait as a field of the body',
      429,
      { detail: 'Request was throttled.', retry_after: 30 },
      { ...throttled, retryAfterMs: 30 * SECOND_MS },
    ],
    [
      'Databricks',
      429,
      {
        error_code: 'REQUEST_LIMIT_EXCEEDED',
        message: 'Exceeded workspace output tokens per minute rate limit for a-model.',
      },
      { ...throttled, limit: 'output-tokens' },
    ],
    ['Volcano Engine, a burst', 429, { error: { code: 'RequestBurstTooFast' } }, throttled],
    ['Volcano Engine, overloaded', 429, { error: { code: 'ServerOverloaded' } }, overloaded],
    ['Volcano Engine, no balance', 403, { error: { code: 'AccountOverdueError' } }, unpaid],
    [
      'watsonx.ai, requests',
      429,
      {
        errors: [
          {
            code: 'rate_limit_reached_requests',
            message: 'The request rate limit has been reached. Limit: 8 requests per second',
          },
        ],
        status_code: 429,
      },
      {
        ...throttled,
        limit: 'requests',
        limits: [{ unit: 'requests', limit: 8, windowMs: SECOND_MS }],
      },
    ],
    ['watsonx.ai, no quota', 403, { errors: [{ code: 'token_quota_reached' }] }, usedUp],
    [
      'Workers AI, overloaded',
      429,
      {
        errors: [{ code: 3040, message: 'AiError: Capacity temporarily exceeded' }],
        success: false,
      },
      overloaded,
    ],
    [
      'Workers AI, the allocation of a day',
      429,
      {
        errors: [{ code: 4006, message: 'you have used up your daily free allocation of neurons' }],
      },
      usedUp,
    ],
    [
      'Gmail and Drive, a user',
      403,
      {
        error: { code: 403, errors: [{ domain: 'usageLimits', reason: 'userRateLimitExceeded' }] },
      },
      { ...throttled, limit: 'requests' },
    ],
    [
      'Calendar, a project',
      403,
      { error: { code: 403, errors: [{ domain: 'usageLimits', reason: 'rateLimitExceeded' }] } },
      { ...throttled, limit: 'requests' },
    ],
    [
      'older APIs of Google, a day',
      403,
      { error: { code: 403, errors: [{ domain: 'usageLimits', reason: 'dailyLimitExceeded' }] } },
      usedUp,
    ],
    [
      'Salesforce, the requests of a day',
      403,
      [{ message: 'TotalRequests Limit exceeded.', errorCode: 'REQUEST_LIMIT_EXCEEDED' }],
      usedUp,
    ],
    [
      'X, the posts of a month',
      429,
      {
        title: 'UsageCapExceeded',
        detail: 'Usage cap exceeded: Monthly product cap',
        type: 'https://api.twitter.com/2/problems/usage-capped',
      },
      usedUp,
    ],
    [
      'GitHub, a secondary limit without a header',
      403,
      {
        message:
          'You have exceeded a secondary rate limit. Please wait a few minutes before you try again.',
      },
      { ...throttled, retryAfterMs: MINUTE_MS },
    ],
    [
      'OpenAI, no capacity in the flex tier',
      429,
      { error: { code: 'resource_unavailable' } },
      overloaded,
    ],
    [
      'Cerebras, a full queue',
      429,
      { error: { param: 'queue', code: 'queue_exceeded' } },
      overloaded,
    ],
    [
      'Text Generation Inference',
      429,
      { error: 'Model is overloaded', error_type: 'overloaded' },
      overloaded,
    ],
    [
      'Azure API Management',
      429,
      { statusCode: 429, message: 'Token limit is exceeded. Try again in 21 seconds.' },
      { ...throttled, retryAfterMs: 21 * SECOND_MS },
    ],
    [
      'slowapi',
      429,
      { error: 'Rate limit exceeded: 60 per 6 second' },
      {
        ...throttled,
        limit: 'requests',
        limits: [{ unit: 'requests', limit: 60, windowMs: 6 * SECOND_MS }],
      },
    ],
    [
      'aiohttp-ratelimiter',
      429,
      { error: 'Rate limit exceeded: 30 request(s) per 2 MINUTEs' },
      { ...throttled, limits: [{ unit: 'requests', limit: 30, windowMs: 2 * MINUTE_MS }] },
    ],
    [
      'Flask-Limiter',
      429,
      { error: 'ratelimit exceeded 1,000 per 1 day' },
      { ...throttled, limits: [{ unit: 'requests', limit: 1000, windowMs: DAY_MS }] },
    ],
    [
      'Django REST framework',
      429,
      { detail: 'Request was throttled. Expected available in 3 seconds.' },
      { ...throttled, retryAfterMs: 3 * SECOND_MS },
    ],
    [
      'Gradio, a full queue',
      503,
      { detail: 'Queue is full. Max size is 10 and size is 10.' },
      { ...overloaded, limit: 'concurrency' },
    ],
    [
      'SGLang, a full queue',
      503,
      { object: 'error', message: 'The request queue is full.', code: 503 },
      { ...overloaded, limit: 'concurrency' },
    ],
    [
      'Triton, a full queue',
      503,
      { error: 'Exceeds maximum queue size' },
      { ...overloaded, limit: 'concurrency' },
    ],
    [
      'a media API, jobs at once',
      429,
      { error: { message: 'You have reached the limit of 5 concurrent jobs.' } },
      { ...throttled, limit: 'concurrency' },
    ],
    [
      'ElevenLabs, requests in flight',
      429,
      { detail: { status: 'too_many_concurrent_requests', message: 'No more for your plan.' } },
      { ...throttled, limit: 'concurrency' },
    ],
    [
      'LTX, generations in flight',
      429,
      { type: 'error', error: { type: 'concurrency_limit_error', message: 'Please wait.' } },
      { ...throttled, limit: 'concurrency' },
    ],
    [
      'an API with a code in capitals',
      429,
      { code: 'CONCURRENT_LIMIT', message: 'Too many for your tier' },
      { ...throttled, limit: 'concurrency' },
    ],
    [
      'CloudConvert, jobs at once',
      429,
      { message: 'You have started too many jobs at once' },
      { ...throttled, limit: 'concurrency' },
    ],
    [
      'an API with FastAPI, with an object in detail',
      429,
      { detail: { message: 'The queue is full.' } },
      { ...throttled, limit: 'concurrency' },
    ],
    ['a text that only asks to wait', 429, { message: 'Please wait before retrying.' }, throttled],
  ];

describe('an answer', () => {
  it.each(ANSWERS)('of %s, in the error of a client', (_name, status, body, verdict) => {
    expect(classify(Object.assign(new Error('no'), { status, body }))).toMatchObject(verdict);
  });

  it.each(ANSWERS)('of %s, as the text of a response', (_name, status, body, verdict) => {
    const response = new Response(null, { status });
    expect(classify(response, JSON.stringify(body))).toMatchObject(verdict);
  });

  it('of OpenRouter names its limits and their end in the body', () => {
    const now = Date.UTC(2026, 0, 1);
    const of = (per: string, limit: string, waitMs: number) =>
      classify({
        status: 429,
        headers: { date: new Date(now).toUTCString() },
        error: {
          message: `Rate limit exceeded: free-models-per-${per}. `,
          code: 429,
          metadata: {
            headers: {
              'X-RateLimit-Limit': limit,
              'X-RateLimit-Remaining': '0',
              'X-RateLimit-Reset': `${now + waitMs}`,
            },
          },
        },
      });
    expect(of('min', '20', 30 * SECOND_MS)).toMatchObject({
      ...throttled,
      limit: 'requests',
      retryAfterMs: 30 * SECOND_MS,
      limits: [{ unit: 'requests', limit: 20, remaining: 0, windowMs: MINUTE_MS }],
    });
    expect(of('day', '50', 5 * 60 * MINUTE_MS)).toMatchObject({
      ...usedUp,
      limit: 'requests per day',
      retryAfterMs: 5 * 60 * MINUTE_MS,
      limits: [{ unit: 'requests', limit: 50, remaining: 0, windowMs: DAY_MS }],
    });
  });

  it('that quotes a request says nothing of the balance', () => {
    const quoted = { status: 400, message: 'invalid input: "insufficient funds on my account"' };
    expect(classify(quoted)).toMatchObject({ kind: 'fatal', retry: false });
    expect(classify(quoted).outage).toBeUndefined();
  });

  it('that only mentions a number states no limit', () => {
    const { limits, limit } = classify({
      status: 429,
      message: 'Slow down. Customers with 5,000 requests per minute use another API.',
    });
    expect(limits).toBeUndefined();
    expect(limit).toBe('requests');
  });
});
