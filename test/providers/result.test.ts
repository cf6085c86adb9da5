import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { classify } from '../../src/providers/classify.ts';
import { errorIn, isKnownError } from '../../src/providers/result.ts';
import { oddValue, thrown } from './hostile.ts';

const ERROR = { message: 'Rate limited', code: 429 };

describe('a value that is the body of an error', () => {
  it('has an object or a text under `error`, and is judged whole', () => {
    for (const value of [
      { error: ERROR },
      { error: 'overloaded_error' },
      { type: 'error', error: { type: 'overloaded_error' }, request_id: 'r' },
      { statusCode: 429, error: 'Too Many Requests', message: 'retry in 6 seconds' },
      { error: ERROR, data: undefined },
      { error: { message: 'Too many requests', status: 429 }, data: null },
      { error: ERROR, data: null, count: null, status: 429, statusText: 'Too Many Requests' },
    ]) {
      expect(errorIn(value)).toBe(value);
    }
  });

  it('is judged without the status of an answer that went well', () => {
    expect(errorIn({ status: 200, error: ERROR })).toBe(ERROR);
    expect(errorIn({ statusCode: 200, error: 'busy' })).toBe('busy');
  });

  it.each([
    ['axios', { status: 200, headers: {}, data: { error: ERROR } }],
    ['superagent', { status: 200, headers: {}, error: false, body: { error: ERROR } }],
    ['got', { statusCode: 200, headers: {}, body: { error: ERROR } }],
  ])('is found in the answer of a client: %s', (_client, answer) => {
    expect(errorIn(answer)).toEqual({ error: ERROR });
  });

  it.each([
    ['undici', { statusCode: 503, headers: {}, body: {} }],
    ['axios that throws for no status', { status: 503, headers: {}, data: { error: 'busy' } }],
    ['the REST client of Azure', { status: '503', headers: {}, body: { error: {} } }],
  ])('is an answer that is not ok: %s', (_client, answer) => {
    const error = errorIn(answer);
    expect(classify(error)).toMatchObject({ kind: 'overloaded', retry: true, status: 503 });
  });

  it.each([
    [{ headers: {}, status: 200, data: { choices: [] } }],
    [{ headers: {}, status: '200', body: { choices: [] } }],
    [{ headers: {}, status: 'failed' }],
    [{ headers: ['column'], status: 500 }],
    [{ status: 503 }],
    [{ statusCode: 503 }],
    [{ headers: {}, data: { choices: [] } }],
    [{ headers: {}, data: { error: ERROR, choices: [] } }],
    [{ headers: {}, data: '<html>' }],
    [{ headers: {}, data: null }],
    [{ headers: {}, body: '{}' }],
    [{ headers: undefined, data: { error: ERROR } }],
    [{ data: { error: ERROR } }],
  ])('is not in the answer %j', (answer) => {
    expect(errorIn(answer)).toBeUndefined();
  });

  it.each([
    [undefined],
    [null],
    ['error'],
    [429],
    [[ERROR]],
    [{}],
    [{ error: null }],
    [{ error: undefined }],
    [{ error: '' }],
    [{ error: false }],
    [{ error: 429 }],
    [{ error: () => ERROR }],
    [{ error: ERROR, choices: [] }],
    [{ error: ERROR, content: 'x' }],
    [{ error: ERROR, candidates: [] }],
    [{ error: ERROR, output: [] }],
    [{ error: ERROR, data: null }],
    [{ error: ERROR, result: 0 }],
  ])('is not %j', (value) => {
    expect(errorIn(value)).toBeUndefined();
  });

  it('is found out by two properties of a result', () => {
    const read: PropertyKey[] = [];
    const result = new Proxy(
      { choices: [], usage: {} },
      {
        get: (target, key) => {
          read.push(key);
          return Reflect.get(target, key);
        },
      },
    );
    expect(errorIn(result)).toBeUndefined();
    expect(read).toEqual(['error', 'headers']);
  });

  it('is known by what its error says', () => {
    const known = (value: unknown) => isKnownError(classify(errorIn(value)));
    expect(known({ error: ERROR })).toBe(true);
    expect(known({ error: { type: 'overloaded_error' } })).toBe(true);
    expect(known({ error: { code: 'insufficient_quota' } })).toBe(true);
    expect(known({ error: { code: 'ECONNRESET' } })).toBe(true);
    expect(known({ error: { code: 404 } })).toBe(true);
    expect(known({ error: 'no such word' })).toBe(false);
    expect(known({ error: { message: 'no such word', code: -32_000 } })).toBe(false);
  });

  it('that lies is read as far as it can be', () => {
    const refuse = () => {
      throw new Error('refused');
    };
    const throwing: object = new Proxy({}, { get: refuse, has: refuse, ownKeys: refuse });
    const mirror: object = new Proxy({}, { get: () => mirror });
    const { proxy, revoke } = Proxy.revocable({}, {});
    revoke();
    for (const liar of [throwing, mirror, proxy]) {
      expect(errorIn(liar)).toBeUndefined();
      expect(isKnownError(classify(errorIn({ error: liar })))).toBe(false);
    }
    fc.assert(
      fc.property(fc.oneof(thrown, oddValue), oddValue, (error, status) => {
        const found = errorIn({ error, status });
        if (found !== undefined) expect(typeof isKnownError(classify(found))).toBe('boolean');
      }),
      { numRuns: 2_000 },
    );
  });
});
