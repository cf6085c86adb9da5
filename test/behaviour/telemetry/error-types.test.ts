import { ManualClock } from 'headgate/simulator';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createLimiter, QueueClearedError } from '../../../src/index.ts';
import { type Sdk, startSdk } from '../../telemetry/sdk.ts';

let sdk: Sdk;
beforeEach(() => {
  sdk = startSdk();
});
afterEach(() => sdk.stop());

class QuotaError extends Error {}
class Secret extends Error {}
Object.defineProperty(Secret, 'name', { value: 'key sk-123' });
class t extends QueueClearedError {}
const failedFetch = (cause: unknown) => new TypeError('fetch failed', { cause });
const coded = (code: unknown) => Object.assign(new Error('no'), { code });
const named = (name: unknown) => Object.assign(new Error('no'), { name });

function circular(): Error {
  const error = failedFetch(undefined);
  error.cause = error;
  return error;
}

it.each([
  ['a class', new QuotaError('no'), 'QuotaError'],
  ['a class of JavaScript', new TypeError('no'), 'TypeError'],
  ['a known name', new DOMException('no', 'TimeoutError'), 'TimeoutError'],
  ['a name that holds a secret', named('key sk-123 is wrong'), 'Error'],
  ['a connection that fetch could not make', failedFetch(coded('ECONNREFUSED')), 'ECONNREFUSED'],
  ['a name that has no address', failedFetch(coded('ENOTFOUND')), 'ENOTFOUND'],
  ['a resolver that does not answer', failedFetch(coded('EAI_AGAIN')), 'EAI_AGAIN'],
  ['a wrong certificate', failedFetch(coded('CERT_HAS_EXPIRED')), 'CERT_HAS_EXPIRED'],
  ['a certificate of its own', coded('DEPTH_ZERO_SELF_SIGNED_CERT'), 'DEPTH_ZERO_SELF_SIGNED_CERT'],
  ['a connection that was closed', failedFetch(coded('UND_ERR_SOCKET')), 'UND_ERR_SOCKET'],
  [
    'a connection that Deno could not make',
    failedFetch(
      new Error(
        'error sending request for url (http://x/?key=123): client error (Connect): tcp connect error: Connection refused (os error 111)',
      ),
    ),
    'ECONNREFUSED',
  ],
  ['a connection that broke in Workers', new Error('Network connection lost.'), 'ECONNRESET'],
  ['a connection that Bun could not make', coded('ConnectionRefused'), 'ECONNREFUSED'],
  [
    'the first of several addresses',
    failedFetch(new AggregateError([coded('EHOSTUNREACH'), coded('ETIMEDOUT')])),
    'EHOSTUNREACH',
  ],
  ['a code that holds a secret', failedFetch(coded('key sk-123')), 'TypeError'],
  ['a key in the place of a code', coded('AKIA123ABC'), 'Error'],
  ['a cause that is its own cause', circular(), 'TypeError'],
  ['a class that a minifier has renamed', new t('no'), 'QueueClearedError'],
  ['a class whose name holds a secret', new Secret('no'), 'Error'],
  ['a name that looks like a class', named('sk_123'), 'Error'],
  ['a name that is no text', named(Object.create(null)), 'Error'],
])('metrics and spans report %s with its type', async (_what, error, type) => {
  const limiter = createLimiter({ maxAttempts: 1 });
  await limiter.run(() => Promise.reject(error)).catch(() => undefined);
  expect((await sdk.collect()).value('headgate.attempts', { 'error.type': type })).toBe(1);
  const spans = [...sdk.finished('headgate.attempt'), ...sdk.finished('headgate.request')];
  expect(spans.map(({ attributes }) => attributes['error.type'])).toEqual([type, type]);
  expect(JSON.stringify(spans.map(({ attributes }) => attributes))).not.toContain('123');
});

it("headgate's own errors keep their types beside many others", async () => {
  const clock = new ManualClock();
  const limiter = createLimiter({ maxAttempts: 1, clock, attemptTimeoutMs: 1_000 });
  for (let status = 430; status < 445; status += 1) {
    await limiter.run(() => Promise.reject({ status })).catch(() => undefined);
  }
  const late = limiter.run(() => new Promise(() => {})).catch(() => undefined);
  await clock.advanceAsync(1_000);
  await late;
  const now = await sdk.collect();
  const of = (type: string) => ({ 'error.type': type });
  expect(now.value('headgate.attempts', of('AttemptTimeoutError'))).toBe(1);
  expect(now.value('headgate.attempts', of('_OTHER'))).toBe(9);
  const duration = now.histogram('headgate.request.duration', of('AttemptTimeoutError'));
  expect(duration).toEqual({ count: 1, sum: 1 });
});

it('an abandoned attempt counts as cancelled, and its wait is not counted as latency', async () => {
  const limiter = createLimiter({ concurrency: 1 });
  const [runs, waits] = [new AbortController(), new AbortController()];
  const options = [runs, waits].map(({ signal }) => ({ signal }));
  const sent = options.map((each) => limiter.run(() => new Promise(() => {}), each));
  const ended = Promise.allSettled(sent);
  await new Promise((resolve) => setImmediate(resolve));
  for (const each of [waits, runs]) each.abort();
  await ended;
  const now = await sdk.collect();
  expect(now.value('headgate.attempts', { 'error.type': 'cancelled' })).toBe(1);
  expect(now.value('headgate.request.given_up', { 'headgate.gate': 'concurrency' })).toBe(1);
  expect(now.points('headgate.gate.wait.duration')).toEqual([]);
  expect(sdk.finished('headgate.wait')).toEqual([]);
  const [attempt] = sdk.finished('headgate.attempt');
  expect(attempt?.attributes['error.type']).toBe('cancelled');
  const gates = sdk.finished('headgate.request').map((span) => span.attributes['headgate.gate']);
  expect(gates).toEqual(['concurrency', undefined]);
});

describe('a request that headgate ends after its last attempt has the type of the error that its caller gets', () => {
  const busy = (retryAfter: number) =>
    Object.assign(new Error('busy'), { status: 429, headers: { 'retry-after': `${retryAfter}` } });

  it.each([
    ['whose deadline passes between two attempts', 2, 'DeadlineExceededError'],
    ['whose deadline leaves no time for another attempt', 60, 'DeadlineExceededError'],
    ['that is asked to wait for too long', 3_600, 'RetryAfterTooLongError'],
  ])('%s', async (_what, retryAfter, type) => {
    const clock = new ManualClock();
    const limiter = createLimiter({ clock, deadlineMs: 3_000, adaptive: false });
    const answers = [busy(retryAfter), busy(retryAfter)];
    const caught = limiter
      .run(() => Promise.reject(answers.shift()))
      .catch((error: Error) => error.name);
    await clock.advanceAsync(3_000);
    expect(await caught).toBe(type);
    const now = await sdk.collect();
    expect(now.histogram('headgate.request.duration', { 'error.type': type }).count).toBe(1);
    expect(sdk.finished('headgate.request')[0]?.attributes['error.type']).toBe(type);
    const attempts = sdk.finished('headgate.attempt');
    expect(new Set(attempts.map(({ attributes }) => attributes['error.type']))).toEqual(
      new Set(['429']),
    );
  });
});
