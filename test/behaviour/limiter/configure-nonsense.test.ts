import { describe, expect, it } from 'vitest';
import type { Changes } from '../../../src/advanced.ts';
import type { LimiterOptions } from '../../../src/index.ts';
import { rig } from '../../limiter/rig.ts';

const options: LimiterOptions = {
  concurrency: 5,
  maxBytes: 100,
  limits: { units: { limit: 10, windowMs: 1000 } },
  tokensPerMinute: 500,
  pace: { intervalMs: 100, jitter: 0 },
  maxQueue: 3,
  waitTimeoutMs: 1000,
  adaptive: 'failures',
  total: 10,
};

/** What would all be a change. */
const good: Changes = {
  concurrency: 6,
  throttledConcurrency: 2,
  maxBytes: 200,
  tokensPerMinute: 600,
  pace: { intervalMs: 50 },
  maxQueue: 1,
  overflow: 'drop-oldest',
  waitTimeoutMs: 5,
  total: 1,
};

describe('configure', () => {
  it.each([
    [{ concurrency: 0 }, '`concurrency` must be an integer >= 1, got 0'],
    [{ concurrency: Number.POSITIVE_INFINITY }, '`concurrency` must be an integer >= 1'],
    [{ concurrency: '6' }, '`concurrency` must be an integer >= 1, got "6"'],
    [{ concurrency: null }, '`concurrency` must be an integer >= 1, got null'],
    [{ throttledConcurrency: Number.NaN }, '`throttledConcurrency` must be an integer >= 1'],
    [{ maxBytes: -1 }, '`maxBytes` must be an integer >= 0, got -1'],
    [{ limits: { units: { limit: 0, windowMs: 1000 } } }, '`limits.units.limit` must be'],
    [{ limits: { '': { limit: 20, windowMs: 1000 } } }, '`limits` cannot have the name ""'],
    [{ limits: { units: { limit: 20, windowMs: 0 } } }, '`limits.units.windowMs` must be'],
    [{ limits: { units: { limit: 20, windowMs: 9, algorithm: 'token-bucket' } } }, 'must stay'],
    [{ limits: { others: null } }, 'no limit is named "others"'],
    [{ limits: 5 }, '`limits` must'],
    [{ limits: null }, '`limits` must'],
    [{ requestsPerMinute: null }, 'no limit is named "requests"'],
    [{ tokensPerMinute: 0 }, '`tokensPerMinute` must be a finite number >= 1, got 0'],
    [{ pace: { intervalMs: -1 } }, '`pace.intervalMs` must be a finite number >= 0, got -1'],
    [{ pace: { intervalMs: 50, maxIntervalMs: 40 } }, '`pace.maxIntervalMs` must be'],
    [{ pace: { intervalMs: 50, jitter: 2 } }, '`pace.jitter` must be'],
    [{ pace: { interval: 50 } }, '`interval` is no option of pace'],
    [{ pace: null }, 'the options of pace must be an object, got null'],
    [{ maxQueue: -1 }, '`maxQueue` must be an integer >= 0 or Infinity, got -1'],
    [{ overflow: 'drop' }, '`overflow` must be one of "error", "drop-oldest", "drop-newest"'],
    [{ waitTimeoutMs: 0 }, '`waitTimeoutMs` must be a number >= 1 or Infinity, got 0'],
    [{ total: -1 }, '`total` must be an integer >= 0, got -1'],
    [{ total: 1.5 }, '`total` must be an integer >= 0, got 1.5'],
    [{ concurency: 5 }, '`concurency` is no option of limiter.configure'],
    [{ adaptive: 'speed' }, '`adaptive` must be one of'],
    [{ adaptive: {} }, '`adaptive.strategy` must be'],
    [{ adaptive: { strategy: 'rate', initialLimit: 7 } }, '`adaptive.initialLimit` must be'],
    [{ maxAttempts: 2 }, '`maxAttempts` is no option of limiter.configure'],
    [{ clock: 1 }, '`clock` is no option of limiter.configure'],
  ] as [object, string][])('%j changes nothing at all', (wrong, message) => {
    const { limiter } = rig(options);
    const before = limiter.snapshot();
    expect(() => limiter.configure({ ...good, ...wrong } as Changes)).toThrow(message);
    expect(limiter.snapshot()).toEqual(before);
    limiter.configure(good);
    expect(limiter.snapshot()).not.toEqual(before);
  });

  it('refuses limits without a name', () => {
    const { limiter } = rig(options);
    expect(() => limiter.configure({ limits: {} })).toThrow('`limits` must name at least 1 limit');
  });

  it.each([null, undefined, 5, 'x', []])('refuses %j, which is not an object', (changes) => {
    const { limiter } = rig(options);
    expect(() => limiter.configure(changes as unknown as Changes)).toThrow(
      'the options of limiter.configure must be an object',
    );
  });

  it.each([
    [{ requestsPerMinute: null }, 'no limit is named "requests"'],
    [{ pace: { intervalMs: 5 } }, '`pace` cannot change: the limiter was made without one'],
  ])('cannot turn on an option that is off: %j', (changes, message) => {
    const { limiter } = rig();
    const before = limiter.snapshot();
    expect(() => limiter.configure({ concurrency: 7, ...changes })).toThrow(message);
    expect(limiter.snapshot()).toEqual(before);
  });
});
