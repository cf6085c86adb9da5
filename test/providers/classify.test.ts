import { describe, expect, it } from 'vitest';
import { classify } from '../../src/providers/classify.ts';

/** An error with the properties that a client library gives it. */
function error(properties: object, cause?: unknown): Error {
  return Object.assign(new Error('it failed', { cause }), properties);
}

describe('by status', () => {
  it.each([
    [429, 'throttled', true],
    [503, 'overloaded', true],
    [529, 'overloaded', true],
    [408, 'failed', true],
    [409, 'failed', true],
    [500, 'failed', true],
    [502, 'failed', true],
    [504, 'failed', true],
    [599, 'failed', true],
    [400, 'fatal', false],
    [401, 'fatal', false],
    [403, 'fatal', false],
    [404, 'fatal', false],
    [410, 'fatal', false],
    [422, 'fatal', false],
    [302, 'fatal', false],
  ])('%i is %s', (status, kind, retry) => {
    expect(classify(error({ status }))).toMatchObject({ kind, retry, status });
    expect(classify(error({ statusCode: status }))).toMatchObject({ kind, retry, status });
    expect(classify(new Response(null, { status }))).toMatchObject({ kind, retry, status });
  });

  it('408 shows that the server has given up, and no other status does', () => {
    expect(classify(error({ status: 408 })).timedOut).toBe(true);
    expect(classify(error({ status: 504 })).timedOut).toBeUndefined();
  });

  it.each([
    ['with nothing left', { 'x-ratelimit-limit': '60', 'x-ratelimit-remaining': '0' }],
    ['with a wait', { 'x-ratelimit-remaining': '4900', 'retry-after': '60' }],
  ])('403 %s is that of a rate limit, as of GitHub', (_, headers) => {
    const verdict = classify(new Response(null, { status: 403, headers }));
    expect(verdict).toMatchObject({ kind: 'throttled', retry: true, status: 403 });
    expect(verdict.outage).toBeUndefined();
  });

  it.each([
    ['something left, and without a wait', { 'x-ratelimit-remaining': '10' }],
    ['a wait alone, as Varnish sends it with each error,', { 'retry-after': '5' }],
  ])('403 with %s is final', (_, headers) => {
    const verdict = classify(new Response(null, { status: 403, headers }));
    expect(verdict).toMatchObject({ kind: 'fatal', retry: false, outage: 'authorisation' });
  });

  it('403 of a secondary limit of GitHub names the wait in a header before the usual minute', () => {
    const headers = { 'retry-after': '7' };
    const body = '{"message":"You have exceeded a secondary rate limit."}';
    const verdict = classify(new Response(body, { status: 403, headers }), body);
    expect(verdict).toMatchObject({ kind: 'throttled', retry: true, retryAfterMs: 7000 });
    expect(verdict.outage).toBeUndefined();
  });

  it('429 of the Priority and Fairness of Kubernetes is one of a cap on requests in flight', () => {
    const headers = { 'retry-after': '1', 'x-kubernetes-pf-flowschema-uid': 'f' };
    const verdict = classify(new Response(null, { status: 429, headers }));
    expect(verdict).toMatchObject({ kind: 'throttled', limit: 'concurrency', retryAfterMs: 1000 });
    expect(classify(new Response(null, { status: 500, headers })).limit).toBeUndefined();
  });

  it('an error of tRPC has the status of its call, and the headers of its response', () => {
    const thrown = (httpStatus: number, response: Response) =>
      error({ data: { code: 'X', httpStatus }, meta: { response, responseJSON: [] } });
    const headers = { 'retry-after': '2' };
    expect(classify(thrown(429, new Response(null, { status: 429, headers })))).toMatchObject({
      kind: 'throttled',
      retryAfterMs: 2000,
    });
    // The answer to several calls at once.
    expect(classify(thrown(503, new Response(null, { status: 207 })))).toMatchObject({
      kind: 'overloaded',
      status: 503,
    });
  });

  it.each([0, 99, 600, 429.5, Number.NaN, '429', null, { status: 429 }])(
    'a status of %j is none',
    (status) => {
      expect(classify({ status })).toEqual({ kind: 'failed', retry: false });
    },
  );
});

describe('a time-out', () => {
  it('of `AbortSignal.timeout` is retried, and another abort is not', () => {
    const timeout = new DOMException('it took too long', 'TimeoutError');
    expect(classify(timeout)).toEqual({ kind: 'failed', retry: true, timedOut: true });
    expect(classify(new Error('fetch failed', { cause: timeout }))).toMatchObject({ retry: true });
    const abort = new DOMException('it was given up', 'AbortError');
    expect(classify(abort)).toEqual({ kind: 'failed', retry: false });
  });
});

describe('by shape', () => {
  const limited = { kind: 'throttled', retry: true, status: 429, retryAfterMs: 2000 };
  const quota = { kind: 'fatal', retry: false };
  const wait = { 'Retry-After': '2' };

  it.each([
    ['fetch', new Response(null, { status: 429, headers: wait }), limited],
    [
      'OpenAI',
      error({ status: 429, headers: new Headers(wait), code: 'rate_limit_exceeded' }),
      limited,
    ],
    ['OpenAI, quota', error({ status: 429, code: 'insufficient_quota' }), quota],
    ['OpenAI, quota by type', error({ status: 429, error: { type: 'insufficient_quota' } }), quota],
    ['OpenAI, billing', error({ status: 429, code: 'billing_hard_limit_reached' }), quota],
    [
      'Anthropic',
      error({ status: 429, headers: wait, error: { type: 'error', error: {} } }),
      limited,
    ],
    [
      'Anthropic, in a stream',
      error({ status: undefined, error: { type: 'error', error: { type: 'overloaded_error' } } }),
      { kind: 'overloaded', retry: true },
    ],
    [
      'axios',
      error({ code: 'ERR_BAD_REQUEST', response: { status: 429, headers: wait } }),
      limited,
    ],
    [
      'axios, quota in the body',
      error({ response: { status: 429, data: { error: { code: 'insufficient_quota' } } } }),
      quota,
    ],
    ['Vercel AI', error({ statusCode: 429, responseHeaders: { 'retry-after': '2' } }), limited],
    [
      'Vercel AI, quota in the body',
      error({ statusCode: 429, data: { error: { code: 'insufficient_quota' } } }),
      quota,
    ],
    [
      'Google, in the body',
      { error: { code: 429, status: 'RESOURCE_EXHAUSTED' } },
      { status: 429 },
    ],
    [
      'AWS, by name',
      error({ name: 'ThrottlingException', $metadata: { httpStatusCode: 400 } }),
      { kind: 'throttled', retry: true, status: 400 },
    ],
    [
      'AWS, by status',
      error({ $metadata: { httpStatusCode: 503 } }),
      { kind: 'overloaded', retry: true, status: 503 },
    ],
    ['gRPC', error({ code: 'RESOURCE_EXHAUSTED' }), { kind: 'throttled', retry: true }],
    ['gRPC, down', error({ code: 'UNAVAILABLE' }), { kind: 'overloaded', retry: true }],
    ['as a cause', error({}, error({ status: 429, headers: wait })), limited],
    [
      'Hugging Face',
      error({ httpResponse: { status: 503, body: { error: 'busy' } } }),
      { kind: 'overloaded', retry: true, status: 503 },
    ],
    ['Azure, a REST client', { status: '429', headers: wait, body: { error: {} } }, limited],
    ['Ollama', error({ status_code: 503, error: 'busy' }), { kind: 'overloaded', status: 503 }],
    [
      'Cohere',
      error({ statusCode: 429, rawResponse: { headers: new Headers(wait), status: 429 } }),
      limited,
    ],
  ])('%s', (_name, thrown, verdict) => {
    expect(classify(thrown)).toMatchObject(verdict);
  });

  it('takes the outermost status', () => {
    expect(classify(error({ status: 404 }, error({ status: 429 })))).toMatchObject({ status: 404 });
  });

  it('takes a status of success only where there is no other', () => {
    const responseBody = JSON.stringify({ error: { message: 'oops', code: 500 } });
    expect(classify(error({ statusCode: 200, responseBody }))).toMatchObject({
      kind: 'failed',
      retry: true,
      status: 500,
    });
    const cause = new SyntaxError('Unexpected end of JSON input');
    expect(classify(error({ statusCode: 200 }, cause))).toMatchObject({
      kind: 'fatal',
      status: 200,
    });
  });

  it('hands on the headers, names in lower case, whatever holds them', () => {
    const pairs: [string, string][] = [
      ['X-Request-Id', 'a'],
      ['RETRY-AFTER', '2'],
    ];
    const record = { 'x-request-id': 'a', 'retry-after': '2' };
    const holders = [Object.fromEntries(pairs), pairs, new Map(pairs), new Headers(pairs)];
    for (const headers of holders) {
      expect(classify({ status: 429, headers })).toMatchObject({
        headers: record,
        retryAfterMs: 2000,
      });
    }
  });

  it.each([429, 500, 409, 503])('does not retry %i where x-should-retry is false', (status) => {
    const headers = new Headers({ 'X-Should-Retry': 'false' });
    expect(classify(error({ status, headers }))).toMatchObject({ retry: false });
    headers.set('x-should-retry', 'true');
    expect(classify(error({ status, headers }))).toMatchObject({ retry: true });
  });
});

describe('by a broken connection', () => {
  it.each([
    ['ECONNRESET', 'broken'],
    ['ECONNREFUSED', 'refused'],
    ['EPIPE', 'broken'],
    ['ETIMEDOUT', undefined],
    ['ENOTFOUND', 'refused'],
    ['EAI_AGAIN', 'refused'],
    ['EHOSTUNREACH', 'refused'],
    ['ENETUNREACH', 'refused'],
    ['UND_ERR_SOCKET', 'broken'],
    ['UND_ERR_CONNECT_TIMEOUT', 'refused'],
    ['UND_ERR_HEADERS_TIMEOUT', undefined],
    ['UND_ERR_BODY_TIMEOUT', undefined],
  ])('%s, itself or as a cause', (code, connection) => {
    const why = connection === undefined ? { timedOut: true } : { connection };
    const verdict = { kind: 'failed', retry: true, ...why };
    expect(classify(error({ code }))).toEqual(verdict);
    const fetchFailed = new TypeError('fetch failed', { cause: error({ code }) });
    expect(classify(fetchFailed)).toEqual(verdict);
    expect(classify(error({ name: 'APIConnectionError' }, fetchFailed))).toEqual(verdict);
  });

  it.each([
    ['got', error({ code: 'ECONNRESET', response: { statusCode: 200, headers: {} } })],
    ['AWS', error({ code: 'ECONNRESET', $metadata: { httpStatusCode: 200 } })],
    ['Vercel AI', error({ statusCode: 200 }, error({}, error({ code: 'UND_ERR_SOCKET' })))],
    [
      'axios',
      Object.assign(new Error('stream has been aborted'), {
        code: 'ERR_BAD_RESPONSE',
        response: { status: 200, headers: {} },
      }),
    ],
  ])('in the middle of the body of a good response: %s', (_client, thrown) => {
    expect(classify(thrown)).toEqual({ kind: 'failed', retry: true, connection: 'interrupted' });
  });

  it('a response of the type `error` as the cause, as msw rejects', () => {
    const thrown = new TypeError('Failed to fetch', { cause: Response.error() });
    expect(classify(thrown)).toEqual({ kind: 'failed', retry: true, connection: 'broken' });
  });

  it('not by an abort or by a fault in the code of the user', () => {
    const verdict = { kind: 'failed', retry: false };
    expect(classify(new DOMException('gone', 'AbortError'))).toEqual(verdict);
    expect(classify(new TypeError('x is not a function'))).toEqual(verdict);
    expect(classify(error({ code: 'ERR_INVALID_URL' }))).toEqual(verdict);
  });
});
