import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { ProviderAdapter } from '../../src/providers/adapter.ts';
import { defaultProviders, readProviders } from '../../src/providers/registry.ts';

const FOLDER = new URL('../../src/providers/', import.meta.url);

describe('the readers of headgate', () => {
  it('are listed in the documentation', () => {
    const page = new URL('../../docs/reference/providers.md', import.meta.url);
    const [, table = ''] = readFileSync(page, 'utf8').split('<!-- generated: providers -->');
    const rows =
      table.split('<!-- /generated -->')[0]?.matchAll(/^\| ([^|]+) \| .{20,} \|$/gm) ?? [];
    const names = Array.from(rows, ([, name]) => name);
    expect(names).toEqual(defaultProviders.map(({ name }) => name));
  });

  it('are all that there are', () => {
    const files = readdirSync(FOLDER).filter((file) =>
      /\bexport const \w+: ProviderAdapter = /.test(readFileSync(new URL(file, FOLDER), 'utf8')),
    );
    expect(files).toHaveLength(defaultProviders.length);
    expect(new Set(defaultProviders.map(({ name }) => name)).size).toBe(defaultProviders.length);
  });

  it('are called for what they read', () => {
    for (const { marks = [], limits } of defaultProviders) {
      expect(marks.length > 0).toBe(limits !== undefined);
      for (const mark of marks) expect(mark).toBe(mark.toLowerCase());
    }
  });
});

describe('readers of the user', () => {
  const mine: ProviderAdapter = {
    name: 'mine',
    marks: ['x-left'],
    limits: (header) => [{ unit: 'requests', remaining: Number(header('x-left')) }],
    verdict: ({ words, header }) =>
      words.has('mine')
        ? { kind: 'overloaded', retryAfterMs: 7, limit: header('x-which') }
        : undefined,
  };
  const { classify, reportedLimits } = readProviders([mine, ...defaultProviders]);

  it('come first, and are helped out by the general reading', () => {
    const headers = { 'x-left': '5', 'x-which': 'w' };
    expect(classify({ status: 429, code: 'mine', headers })).toEqual({
      kind: 'overloaded',
      retry: true,
      status: 429,
      retryAfterMs: 7,
      limit: 'w',
      limits: [{ unit: 'requests', remaining: 5 }],
      headers,
    });
    const asked = { status: 429, code: 'mine', headers: { 'retry-after': '3' } };
    expect(classify(asked)).toMatchObject({ retryAfterMs: 3000 });
  });

  it('leave to the others what they do not know', () => {
    expect(classify({ status: 429, code: 'insufficient_quota' })).toMatchObject({ kind: 'fatal' });
    expect(reportedLimits({ 'x-ratelimit-limit-tokens': '9' })).toMatchObject([{ limit: 9 }]);
    expect(reportedLimits({ 'x-left': '3', 'x-ratelimit-limit-tokens': '9' })).toEqual([
      { unit: 'requests', remaining: 3 },
    ]);
  });

  it('are told of a field that no verdict has', () => {
    const verdict = () => ({ kind: 'throttled', retryAfter: 5 }) as const;
    const wrong = readProviders([{ name: 'mine', verdict }]);
    expect(() => wrong.classify({ status: 429 })).toThrow(
      '`retryAfter` is no field of verdict() of mine; did you mean `retryAfterMs`?',
    );
  });

  it('are not believed about what is no number', () => {
    for (const text of ['many', '-1', 'Infinity']) {
      expect(reportedLimits({ 'x-left': text })).toEqual([]);
    }
  });

  it('may be all that there are', () => {
    const alone = readProviders([mine]);
    expect(alone.classify({ status: 429, code: 'insufficient_quota' }).kind).toBe('throttled');
    expect(readProviders([]).classify({ status: 503 }).kind).toBe('overloaded');
    expect(readProviders([]).reportedLimits({ 'x-left': '3' })).toEqual([]);
  });

  it('that throw are heard', () => {
    const broken: ProviderAdapter = {
      name: 'broken',
      verdict: () => {
        throw new Error('of the reader');
      },
    };
    expect(() => readProviders([broken]).classify({ status: 429 })).toThrow('of the reader');
  });
});
