import { afterEach, beforeEach, expect, it } from 'vitest';
import { createLimiter } from '../../../src/index.ts';
import { type Sdk, startSdk } from '../../telemetry/sdk.ts';

let sdk: Sdk;
beforeEach(() => {
  sdk = startSdk();
});
afterEach(() => sdk.stop());

class QuotaError extends Error {}
class Secret extends Error {}
Object.defineProperty(Secret, 'name', { value: 'key sk-123' });
const named = (name: unknown) => Object.assign(new Error('no'), { name });

it.each([
  ['a class', new QuotaError('no'), 'QuotaError'],
  ['a class of JavaScript', new TypeError('no'), 'TypeError'],
  ['a known name', new DOMException('no', 'TimeoutError'), 'TimeoutError'],
  ['a name that holds a secret', named('key sk-123 is wrong'), 'Error'],
  ['a class whose name holds a secret', new Secret('no'), 'Error'],
  ['a name that looks like a class', named('sk_123'), 'Error'],
  ['a name that is no text', named(Object.create(null)), 'Error'],
])('%s is told by metrics and spans as what it is', async (_what, error, type) => {
  const limiter = createLimiter({ maxAttempts: 1 });
  await limiter.run(() => Promise.reject(error)).catch(() => undefined);
  expect((await sdk.collect()).value('headgate.attempts', { 'error.type': type })).toBe(1);
  const spans = [...sdk.finished('headgate.attempt'), ...sdk.finished('headgate.request')];
  expect(spans.map(({ attributes }) => attributes['error.type'])).toEqual([type, type]);
  expect(JSON.stringify(spans.map(({ attributes }) => attributes))).not.toContain('123');
});
