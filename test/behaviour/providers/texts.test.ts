import { describe, expect, it } from 'vitest';
import { classify } from '../../../src/providers/classify.ts';

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

describe('a text of a rejection that speaks of what is in flight', () => {
  it.each([
    'Your account org-1 request reached organization max concurrency: 3, please try again after 1 seconds',
    'Too many concurrent requests',
    'You have exceeded the maximum concurrent requests of your plan.',
    'Concurrency limit reached',
    'max connections reached: 5',
    'Too many connections',
    'High concurrency usage of this API.',
    'too many request: task queue is full',
    'Request dropped due to backpressure (num_queued_requests=4, max_queued_requests=4).',
    'Exceeds maximum queue size',
  ])('%s', (message) => {
    const limit = 'concurrency';
    expect(classify({ status: 429, message })).toMatchObject({ kind: 'throttled', limit });
    expect(classify({ status: 503, message })).toMatchObject({ kind: 'overloaded', limit });
    expect(classify({ status: 500, message }).limit).toBeUndefined();
  });

  it.each([
    'Too many requests',
    'current requests exceed the limit',
    'parallel universe',
    'the queue is fully replicated',
  ])('but %s does not', (message) => {
    expect(classify({ status: 429, message }).limit).toBeUndefined();
    expect(classify({ status: 503, message }).limit).toBeUndefined();
  });
});

describe('a status in the code of a body', () => {
  it('may be a text', () => {
    expect(classify({ error: { code: '429', message: 'slow down' } })).toMatchObject({
      kind: 'throttled',
      status: 429,
    });
    expect(classify({ status: 503, error: { code: '429' } }).status).toBe(503);
  });

  it.each(['200', '1302', '0429', '4.9', '429 '])('%j is none', (code) => {
    expect(classify({ error: { code } })).toEqual({ kind: 'failed', retry: false });
  });
});

describe('a body of a response that is plain text', () => {
  const read = (body: string, status = 429) => classify(new Response(null, { status }), body);

  it('is read as a message', () => {
    expect(read('max connections reached: 5')).toMatchObject({ limit: 'concurrency' });
    expect(read('Too Many Requests! Wait for 3s')).toMatchObject({ retryAfterMs: 3000 });
    expect(read('model is overloaded', 429)).toMatchObject({ kind: 'overloaded' });
  });

  it.each([
    '<html><body>Too many connections, wait for 3s</body></html>',
    'data: {"text": "Too many connections, wait for 3s"}',
    `${'Too many connections, wait for 3s. '.repeat(10)}`,
  ])('is not read if it is longer, a page or a stream: %s', (body) => {
    const verdict = read(body);
    expect(verdict).toMatchObject({ kind: 'throttled', status: 429 });
    expect(verdict.limit).toBeUndefined();
    expect(verdict.retryAfterMs).toBeUndefined();
  });
});

describe('an error of GraphQL', () => {
  it.each([
    ['Shopify', { response: { status: 200, errors: [{ extensions: { code: 'THROTTLED' } }] } }],
    ['Octokit', { name: 'GraphqlResponseError', errors: [{ type: 'RATE_LIMITED' }] }],
    ['Linear', { status: 400, errors: [{ extensions: { code: 'RATELIMITED' } }] }],
  ])('that names a rate limit is one of a rate limit: %s', (_name, properties) => {
    const error = Object.assign(new Error('GraphQL Error'), properties);
    expect(classify(error)).toMatchObject({ kind: 'throttled', retry: true });
  });

  it('that names another cause is not', () => {
    const errors = [{ message: 'no such field', extensions: { code: 'BAD_USER_INPUT' } }];
    const error = Object.assign(new Error('GraphQL Error'), { response: { status: 200, errors } });
    expect(classify(error)).toMatchObject({ retry: false });
  });
});
