import fc from 'fast-check';

/** Headers that providers send, as documented, and what belongs to them. */
export const HEADERS: Readonly<Record<string, string>> = {
  date: 'Fri, 02 Jan 2026 03:04:05 GMT',
  'retry-after': '20',
  'retry-after-ms': '1500',
  'x-should-retry': 'true',
  'x-ratelimit-limit-requests': '60',
  'x-ratelimit-limit-tokens': '150000',
  'x-ratelimit-remaining-requests': '59',
  'x-ratelimit-remaining-tokens': '149984',
  'x-ratelimit-reset-requests': '1s',
  'x-ratelimit-reset-tokens': '6m0s',
  'x-ratelimit-renewalperiod-requests': '10',
  'apim-request-id': 'a',
  'x-groq-region': 'fra',
  'anthropic-ratelimit-requests-limit': '50',
  'anthropic-ratelimit-requests-remaining': '49',
  'anthropic-ratelimit-requests-reset': '2026-01-02T03:04:06Z',
  'anthropic-ratelimit-input-tokens-limit': '50000',
  'anthropic-ratelimit-input-tokens-reset': '2026-01-02T03:05:05Z',
  'x-ratelimit-limit-req-minute': '720',
  'x-ratelimit-remaining-req-minute': '717',
  'x-ratelimit-limit-tokens-minute': '5000000',
  'ratelimitbysize-limit': '500000',
  'ratelimitbysize-remaining': '499987',
  'ratelimitbysize-reset': '42',
  'x-trial-endpoint-call-limit': '40',
  'x-trial-endpoint-call-remaining': '39',
  'x-endpoint-monthly-call-limit': '1000',
  'x-ratelimit-limit': '10',
  'x-ratelimit-remaining': '0',
  'x-ratelimit-reset': '1767323106',
  'x-tokenlimit-limit': '3000',
  'ratelimit-policy': '"permin";q=50;w=60, "perhr";q=1000;w=3600;qu="content-bytes"',
  ratelimit: '"permin";r=0;t=30',
  'ratelimit-limit': '100',
  'ratelimit-reset': '6',
  'x-amzn-errortype': 'ThrottlingException:http://example.com/',
};

/** Error bodies that providers send, as documented. */
export const BODIES: readonly object[] = [
  {
    error: {
      message:
        'Rate limit reached for gpt-4o on tokens per min (TPM): Limit 30000, Used 29000. Please try again in 1.2s.',
      type: 'tokens',
      param: null,
      code: 'rate_limit_exceeded',
    },
  },
  { error: { message: 'You exceeded your quota.', type: 'insufficient_quota', code: null } },
  {
    type: 'error',
    error: {
      type: 'rate_limit_error',
      message:
        'You have reached your API usage limits. You will regain access on 2026-09-01 at 00:00 UTC.',
      details: { error_code: 'enforced_spend_limit_reached' },
    },
  },
  { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } },
  {
    error: {
      code: 429,
      message: 'Please retry in 36.4s.',
      status: 'RESOURCE_EXHAUSTED',
      details: [
        {
          '@type': 'type.googleapis.com/google.rpc.QuotaFailure',
          violations: [{ quotaId: 'GenerateRequestsPerDayPerProject', quotaValue: '20' }],
        },
        { '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '36s' },
        {
          reason: 'RATE_LIMIT_EXCEEDED',
          metadata: { quota_limit: 'PerMinute', quota_limit_value: '5' },
        },
      ],
    },
  },
  {
    message: 'Too many tokens per day, please wait before trying again.',
    __type: 'ThrottlingException',
  },
  { object: 'error', message: 'Rate limit exceeded', type: 'rate_limited', code: '1300' },
  { message: 'You are using a Trial key, which is limited to 1000 API calls / month.' },
  { error: { message: 'x', error_type: 'dynamic_token_limited' } },
  { error: 'try again after 6 seconds', category: 'server' },
  { type: 'try_again', request_id: 'r', queue_state: 'active' },
  { code: 8, details: 'exhausted', metadata: { 'grpc-retry-pushback-ms': '5' } },
];

const DIGITS = '9'.repeat(400);

/** Values of headers and texts that no provider should send. */
export const ODD_TEXTS: readonly string[] = [
  '',
  ' ',
  '0',
  '-0',
  '-1',
  '+1',
  '1e308',
  '1e-308',
  '0x10',
  'NaN',
  'Infinity',
  '-Infinity',
  'null',
  'undefined',
  '[object Object]',
  DIGITS,
  `${DIGITS}s`,
  `0.${DIGITS}`,
  '99999999999999d',
  '1s1s1s',
  '1d1h1m1s1ms',
  '1.7976931348623157e308s',
  '9007199254740993',
  '2026-01-02T03:04:04Z',
  '1970-01-01T00:00:00Z',
  '+275760-09-13T00:00:00.001Z',
  '-271821-04-20T00:00:00Z',
  'Sun, 06 Nov 1994 08:49:37 GMT',
  'Thu, 99 Foo 2999 99:99:99 GMT',
  '"a";r=0;t=-1',
  '"a";r=0;t=999999999999999',
  '"a";q=1e9;w=',
  '"\u0000',
  'try again in 99999999999999999 days',
  'try again in -5s',
  'try again in s',
  'regain access on 9999-99-99 at 99:99 UTC',
  '{"error":{"code":429',
  '[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[',
  '\ud800',
  '\u202e1s',
  '١٢٣',
  '\u0000',
];

const oddText = fc.constantFrom(...ODD_TEXTS);
const number = fc.oneof(
  fc.constantFrom(Number.NaN, Number.POSITIVE_INFINITY, -1, -0, 0, 1e300, 2 ** 53, 8, 14, 429, 503),
  fc.integer(),
  fc.double(),
);

/** Anything at all in the place of a value. */
export const oddValue: fc.Arbitrary<unknown> = fc.oneof(
  oddText,
  number,
  fc.string({ maxLength: 20 }),
  fc.constantFrom<unknown>(
    null,
    undefined,
    true,
    [],
    {},
    1n,
    Symbol('x'),
    () => 429,
    new Date(0),
    new Date(Number.NaN),
    new Uint8Array(3),
    [['a']],
  ),
);

/** A documented text, cut, doubled, or with something put into it. */
function mangled(text: string): fc.Arbitrary<string> {
  return fc
    .tuple(fc.nat(), fc.constantFrom('cut', 'tail', 'double', 'insert', 'as is', 'as is'), oddText)
    .map(([seed, how, odd]) => {
      const at = text.length === 0 ? 0 : seed % text.length;
      if (how === 'cut') return text.slice(0, at);
      if (how === 'tail') return text.slice(at);
      if (how === 'double') return `${text}${text}`;
      return how === 'insert' ? `${text.slice(0, at)}${odd}${text.slice(at)}` : text;
    });
}

const headerEntry = fc
  .constantFrom(...Object.entries(HEADERS))
  .chain(([name, value]) =>
    fc.tuple(fc.constantFrom(name, name.toUpperCase()), fc.oneof(mangled(value), oddText)),
  );

/** Some headers, documented or not, as one of the things that hold headers. */
export const headers: fc.Arbitrary<unknown> = fc
  .tuple(
    fc.array(headerEntry, { maxLength: 8 }),
    fc.constantFrom('record', 'map', 'pairs', 'get', 'odd'),
    oddValue,
  )
  .map(([entries, how, odd]) => {
    if (how === 'map') return new Map<unknown, unknown>(entries);
    if (how === 'pairs') return entries;
    const record = Object.fromEntries(entries);
    if (how === 'get') return { get: (name: string) => record[name] };
    return how === 'odd' ? { ...record, 'retry-after': odd, date: odd } : record;
  });

/** One documented value after the other may be replaced by something odd. */
function mangledJson(value: unknown, odd: readonly unknown[], seed: number): unknown {
  let left = seed;
  const next = (n: number) => {
    left = (Math.imul(left, 1_103_515_245) + 12_345) >>> 0;
    return (left >>> 8) % n;
  };
  const visit = (inner: unknown): unknown => {
    if (next(9) === 0) return odd[next(odd.length)];
    if (Array.isArray(inner)) return inner.map(visit);
    if (typeof inner !== 'object' || inner === null) return inner;
    return Object.fromEntries(Object.entries(inner).map(([key, one]) => [key, visit(one)]));
  };
  return visit(value);
}

const body = fc
  .tuple(fc.constantFrom(...BODIES), fc.array(oddValue, { minLength: 1, maxLength: 3 }), fc.nat())
  .map(([documented, odd, seed]) => mangledJson(documented, odd, seed));

/** The JSON of a body, perhaps cut. */
export const bodyText: fc.Arbitrary<string> = fc
  .constantFrom(...BODIES)
  .map((one) => JSON.stringify(one))
  .chain(mangled);

/** An error as one of many clients would throw it, with much of it out of joint. */
export const thrown: fc.Arbitrary<unknown> = fc
  .tuple(
    fc.oneof(fc.constantFrom(429, 429, 400, 408, 410, 498, 503, 529), number, oddValue),
    body,
    bodyText,
    headers,
    fc.nat(11),
    oddValue,
  )
  .map(([status, json, text, held, how, odd]): unknown => {
    switch (how) {
      case 0:
        return { status, headers: held, error: json, code: odd };
      case 1:
        return { statusCode: status, responseHeaders: held, responseBody: text, data: json };
      case 2:
        return { lastError: { statusCode: status, responseBody: text }, errors: [odd] };
      case 3:
        return Object.assign(new Error(text), { status });
      case 4:
        return { response: { status, headers: held, data: json }, code: odd };
      case 5:
        return { name: odd, $metadata: { httpStatusCode: status }, $response: { headers: held } };
      case 6:
        return text;
      case 7:
        return { code: status, details: odd, metadata: held };
      case 8:
        return { cause: json, status, body: text };
      case 9:
        return { error: { error: { error: json } }, headers: held };
      case 10:
        return json;
      default:
        return odd;
    }
  });
