import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { classify } from '../../../src/providers/classify.ts';

const KINDS = ['throttled', 'overloaded', 'failed', 'fatal'];
const UNKNOWN = { kind: 'failed', retry: false };

function expectVerdict(thrown: unknown): void {
  const verdict = classify(thrown);
  expect(KINDS).toContain(verdict.kind);
  expect(typeof verdict.retry).toBe('boolean');
  const { retryAfterMs } = verdict;
  expect(retryAfterMs === undefined || (Number.isFinite(retryAfterMs) && retryAfterMs > 0)).toBe(
    true,
  );
}

describe('things that are no errors', () => {
  it.each([undefined, null, 0, 429, '429', '', true, 1n, Symbol('429'), () => 429, [], {}])(
    '%s',
    (thrown) => {
      expect(classify(thrown)).toEqual(UNKNOWN);
    },
  );

  it('causes in a circle, and a status behind them', () => {
    const first: Record<string, unknown> = {};
    const second: Record<string, unknown> = { cause: first };
    Object.assign(first, { cause: second, response: first, error: second, data: first });
    expect(classify(first)).toEqual(UNKNOWN);
    second.cause = { cause: { cause: { cause: first, status: 429 } } };
    expect(classify(first)).toMatchObject({ kind: 'throttled' });
  });

  it('a chain of causes without end', () => {
    const deep = () => ({
      get cause() {
        return deep();
      },
      get response() {
        return deep();
      },
    });
    expect(classify(deep())).toEqual(UNKNOWN);
  });

  it('getters that throw, each for itself', () => {
    const thrower = (key: string, rest: object) =>
      Object.defineProperty({ ...rest }, key, {
        get() {
          throw new Error(`no ${key}`);
        },
      });
    for (const key of ['cause', 'response', 'error', 'data', 'headers', 'code', 'name', 'type']) {
      expect(classify(thrower(key, { status: 429 }))).toMatchObject({ kind: 'throttled' });
    }
    expect(classify(thrower('status', { code: 'ECONNRESET' }))).toEqual({
      kind: 'failed',
      retry: true,
      connection: 'broken',
    });
  });

  it('proxies that throw at everything, or answer everything with themselves', () => {
    const refuse = () => {
      throw new Error('refused');
    };
    const traps = { get: refuse, has: refuse, ownKeys: refuse, getPrototypeOf: refuse };
    expect(classify(new Proxy({}, traps))).toEqual(UNKNOWN);
    expectVerdict({ status: 429, headers: new Proxy({}, traps) });
    const mirror: object = new Proxy(() => mirror, { get: () => mirror, apply: () => mirror });
    expectVerdict(mirror);
    expectVerdict({ status: 429, headers: mirror });
    const { proxy, revoke } = Proxy.revocable({}, {});
    revoke();
    expectVerdict(proxy);
    expectVerdict({ status: 500, headers: proxy, cause: proxy });
  });

  it('headers that are none', () => {
    const broken = [null, 7, 'retry-after: 9', [7], [[Symbol('x')]], { 'retry-after': {} }];
    for (const headers of broken) {
      const verdict = classify({ status: 429, headers });
      expect(verdict).toMatchObject({ kind: 'throttled', retry: true });
      expect(verdict.retryAfterMs).toBeUndefined();
    }
  });

  it('whatever can be thrown', () => {
    const leaf = fc.anything({ withNullPrototype: true, withMap: true, withDate: true });
    const code = fc.constantFrom<unknown>('ECONNRESET', 'insufficient_quota', 'x', 8, 429, null);
    const { shape } = fc.letrec((tie) => ({
      shape: fc.oneof(
        { depthSize: 'small' },
        leaf,
        fc.record(
          {
            status: fc.oneof(fc.integer({ min: -1, max: 700 }), leaf),
            statusCode: leaf,
            code,
            name: leaf,
            headers: fc.oneof(
              fc.record({ 'Retry-After': fc.oneof(fc.string(), fc.double(), leaf) }),
              leaf,
            ),
            $metadata: leaf,
            response: tie('shape'),
            data: tie('shape'),
            error: tie('shape'),
            cause: tie('shape'),
          },
          { requiredKeys: [] },
        ),
      ),
    }));
    fc.assert(fc.property(shape, expectVerdict), { numRuns: 1000 });
  });
});
