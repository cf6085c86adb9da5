import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { systemClock } from '../../src/advanced.ts';
import type { LimiterOptions } from '../../src/index.ts';
import { checkLimiterConfig } from '../../src/options/check-config.ts';
import { limiterOptionsFromEnv } from '../../src/options/env.ts';
import type { LimiterConfig, LimiterLayer } from '../../src/options/limiter-config.ts';
import { limiterOptionsFromJSON, mergeLimiterOptions as merge } from '../../src/options/sources.ts';
import { STRATEGIES } from '../../src/policies/adaptive.ts';
import {
  configs,
  errorOf,
  frozen,
  leavesOf,
  NAMED_ROWS,
  treeOf,
  unflatten,
  valuesOf,
} from './configs.ts';

describe.each(NAMED_ROWS)('$path', ({ path, option: { kind } }) => {
  const values = fc.tuple(valuesOf(kind), valuesOf(kind));

  it('is what the first source says that says it', () => {
    fc.assert(
      fc.property(values, ([strong, weak]) => {
        const [first, second] = [treeOf(path, strong), treeOf(path, weak)];
        expect(merge(first, second)).toEqual(first);
        expect(merge({}, first, second)).toEqual(first);
        expect(merge(first, {}, second)).toEqual(first);
        expect(merge({}, second)).toEqual(second);
        expect(merge(treeOf(path, undefined), second)).toEqual(second);
      }),
    );
  });
});

describe('merged sources', () => {
  it.each(STRATEGIES)('have each option of the first that says it (%s)', (strategy) => {
    const layer = configs(strategy).map((config) => frozen(withoutBursts(config)));
    fc.assert(
      fc.property(layer, layer, layer, (a, b, c) => {
        const leaves = [...leavesOf(c), ...leavesOf(b), ...leavesOf(a)];
        const expected = unflatten(new Map(leaves));
        expect(merge(a, b, c)).toEqual(expected);
        expect(merge(merge(a, b), c)).toEqual(expected);
        expect(merge(a, merge(b, c))).toEqual(expected);
      }),
    );
  });

  it('are the source if there is but one', () => {
    fc.assert(
      fc.property(configs('failures'), (config) => {
        expect(merge(config)).toEqual(config);
        expect(merge(config, config)).toEqual(config);
        expect(merge(config, {})).toEqual(config);
      }),
    );
    expect(merge()).toEqual({});
    expect(Object.keys(merge({ concurrency: undefined }, { pace: undefined }))).toEqual([]);
  });

  it('make argument > file > environment > default', () => {
    const env = {
      HEADGATE_CONCURRENCY: '3',
      HEADGATE_MAX_BYTES: '3',
      HEADGATE_MAX_ATTEMPTS: '3',
      HEADGATE_BACKOFF_BACKOFF_MS: '3',
      HEADGATE_BACKOFF_LARGE_BACKOFF_MS: '3',
      HEADGATE_BACKOFF_THROTTLED_FOR_MS: '3',
      HEADGATE_LIMITS_REQUESTS_LIMIT: '3',
    };
    const file = {
      concurrency: 2,
      maxBytes: 2,
      backoff: { backoffMs: 2, largeBackoffMs: 2 },
      limits: { requests: { limit: 2, windowMs: 2 } },
    };
    const args = {
      concurrency: 1,
      backoff: { backoffMs: 1 },
      limits: { rare: { limit: 1, windowMs: 1 } },
    };
    const merged = merge(
      args,
      limiterOptionsFromJSON(JSON.stringify(file)),
      limiterOptionsFromEnv('HEADGATE', env),
    );
    expect(merged).toEqual({
      concurrency: 1,
      maxBytes: 2,
      maxAttempts: 3,
      backoff: { backoffMs: 1, largeBackoffMs: 2, throttledForMs: 3 },
      limits: { requests: { limit: 2, windowMs: 2 }, rare: { limit: 1, windowMs: 1 } },
    });
    checkLimiterConfig('createLimiter', merged);
  });

  it('keep what is no plain data, and are the options of a limiter', () => {
    const classify = () => undefined;
    const options: LimiterOptions = { concurrency: 7, classify, clock: systemClock };
    const merged: LimiterOptions = merge({ ...options, concurrency: 7 }, { maxBytes: 9 });
    expect(merged).toEqual({ concurrency: 7, maxBytes: 9, classify, clock: systemClock });
    const weak: LimiterLayer & { readonly clock: unknown } = { clock: systemClock };
    expect(merge({ concurrency: 1 }, weak)).toEqual({ concurrency: 1, clock: systemClock });
    expect(merge({ total: 1, clock: undefined }, weak)).toEqual({ total: 1, clock: systemClock });
  });

  it('may be any number, in an array', () => {
    const sources: readonly LimiterConfig[] = [
      { total: 1 },
      { total: 2, maxQueue: 2 },
      { agingMs: 3 },
    ];
    const merged: LimiterConfig = merge(...sources);
    expect(merged).toEqual({ total: 1, maxQueue: 2, agingMs: 3 });
  });
});

/** What one algorithm drops of another has tests of its own. */
function withoutBursts(config: LimiterConfig): LimiterConfig {
  return unflatten([...leavesOf(config)].filter(([path]) => !path.endsWith('.burst')));
}

describe('a source that is wrong', () => {
  it.each<[unknown, string]>([
    [{ concurrency: 0 }, '`concurrency` must be an integer >= 1, got 0'],
    [{ backoff: 5 }, 'the options of backoff must be an object, got 5'],
    [
      { circuitBreaker: 'on' },
      '`circuitBreaker` must be true or false, or an object of options, got "on"',
    ],
    [{ limits: { a: { limt: 1 } } }, '`limt` is no option of limits.a; did you mean `limit`?'],
    [null, 'the options of mergeLimiterOptions must be an object, got null'],
    [5, 'the options of mergeLimiterOptions must be an object, got 5'],
    [
      JSON.parse('{"limits": {"__proto__": {"limit": 1}}}'),
      '`limits` cannot have the name "__proto__"',
    ],
  ])('%j is refused, however weak', (source, message) => {
    const wrong = source as LimiterLayer;
    expect(errorOf(() => merge(wrong)).message).toContain(message);
    expect(errorOf(() => merge({ concurrency: 1, backoff: {} }, wrong)).message).toContain(message);
  });

  it('cannot reach what every object has', () => {
    const source = JSON.parse('{"__proto__": {"concurrency": 5}, "concurrency": 3}');
    const merged = merge({ total: 1 }, source);
    expect(Object.getPrototypeOf(merged)).toBe(Object.prototype);
    expect({}).not.toHaveProperty('concurrency');
    expect(() => checkLimiterConfig('createLimiter', merged)).toThrow('`__proto__` is no option');
  });
});
