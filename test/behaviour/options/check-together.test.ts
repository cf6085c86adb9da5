import { describe, expect, it } from 'vitest';
import { checkLayer, checkLimiterConfig } from '../../../src/options/check-config.ts';
import { errorOf } from '../../options/configs.ts';

const whole = (config: unknown) => checkLimiterConfig('createLimiter', config);
const part = (config: unknown) => checkLayer('a source', config);

const limit = { limit: 10, windowMs: 1000 };

describe('options that contradict each other', () => {
  it.each<[unknown, string]>([
    [
      { requestsPerMinute: 5, limits: { requests: limit } },
      'TypeError: `requestsPerMinute` and `limits.requests` exclude each other: the first is short for the second',
    ],
    [
      { tokensPerMinute: 5, limits: { tokens: limit } },
      'TypeError: `tokensPerMinute` and `limits.tokens` exclude each other: the first is short for the second',
    ],
    [
      { limits: { rpm: { ...limit, algorithm: 'fixed-window', burst: 5 } } },
      'TypeError: `limits.rpm.burst` belongs to a token-bucket, not a fixed-window; got 5',
    ],
    [
      { pace: { intervalMs: 500, maxIntervalMs: 499.5 } },
      'RangeError: `pace.maxIntervalMs` must be a finite number >= 500, which is `pace.intervalMs`, got 499.5',
    ],
    [
      { adaptive: { strategy: 'failures', tolerance: 2 } },
      'TypeError: `adaptive.tolerance` belongs to the strategy "latency", not "failures"; got 2',
    ],
    [
      { adaptive: { strategy: 'latency', failureThreshold: 2 } },
      'TypeError: `adaptive.failureThreshold` belongs to the strategy "failures", not "latency"; got 2',
    ],
    [
      { adaptive: { strategy: 'rate', minLimit: 2 } },
      'TypeError: `adaptive.minLimit` belongs to the strategy "latency", not "rate"; got 2',
    ],
    [
      { adaptive: { strategy: 'rate', coolingMs: 2 } },
      'TypeError: `adaptive.coolingMs` belongs to the strategy "failures", not "rate"; got 2',
    ],
    [
      { concurrency: 8, adaptive: { strategy: 'failures', initialLimit: 9 } },
      'RangeError: `adaptive.initialLimit` must be a number from 1 to 8, which is `concurrency`, got 9',
    ],
    [
      { concurrency: 8, adaptive: { strategy: 'latency', minLimit: 4, initialLimit: 3 } },
      'RangeError: `adaptive.initialLimit` must be a number from 4 to 8, which is `concurrency`, got 3',
    ],
    [
      { concurrency: 8, adaptive: { strategy: 'latency', minLimit: 9 } },
      'RangeError: `adaptive.minLimit` must be a number from 1 to 8, which is `concurrency`, got 9',
    ],
  ])('%j: %s', (config, message) => {
    expect(String(errorOf(() => whole(config)))).toBe(message);
    expect(String(errorOf(() => part(config)))).toBe(message);
  });
});

describe('options that contradict what holds without others', () => {
  it.each<[unknown, string]>([
    [
      { limits: { rpm: { ...limit, burst: 5 } } },
      'TypeError: `limits.rpm.burst` belongs to a token-bucket, not a sliding-window; got 5',
    ],
    [
      { pace: { maxIntervalMs: 199 } },
      'RangeError: `pace.maxIntervalMs` must be a finite number >= 200, which is `pace.intervalMs`, got 199',
    ],
    [
      { adaptive: { strategy: 'failures', initialLimit: 401 } },
      'RangeError: `adaptive.initialLimit` must be a number from 1 to 400, which is `concurrency`, got 401',
    ],
    [
      { circuitBreaker: { windowMs: 5_000 } },
      'TypeError: `circuitBreaker.windowMs` belongs to `circuitBreaker.failureRatio`, which is not given; got 5000',
    ],
    [
      { circuitBreaker: { consecutiveFailures: 3, leastRequests: 5 } },
      'TypeError: `circuitBreaker.leastRequests` belongs to `circuitBreaker.failureRatio`, which is not given; got 5',
    ],
    [
      { adaptive: { coolingMs: 5 } },
      'TypeError: `adaptive.strategy` must be one of "rate", "latency", "failures", got undefined',
    ],
    [
      { limits: { rpm: { limit: 5 } } },
      'TypeError: `limits.rpm.windowMs` must be a number >= 1 or Infinity, got undefined',
    ],
  ])('%j are wrong as a whole, but a source may say them', (config, message) => {
    expect(String(errorOf(() => whole(config)))).toBe(message);
    part(config);
  });
});

describe('options that agree', () => {
  it.each<[unknown]>([
    [{ requestsPerMinute: 5, tokensPerMinute: 5, limits: { rpm: limit } }],
    [{ requestsPerMinute: 5, limits: { tokens: limit } }],
    [{ requestsPerMinute: undefined, limits: { requests: limit } }],
    [{ limits: { rpm: { ...limit, algorithm: 'token-bucket', burst: 5 } } }],
    [{ limits: { rpm: { ...limit, burst: undefined } } }],
    [{ pace: { intervalMs: 500, maxIntervalMs: 500 } }],
    [{ pace: { intervalMs: 60_000 } }],
    [{ pace: { maxIntervalMs: 200 } }],
    [{ adaptive: { strategy: 'failures', tolerance: undefined } }],
    [{ adaptive: { strategy: 'failures', initialLimit: 400 } }],
    [{ adaptive: { strategy: 'latency', minLimit: 400, initialLimit: 400 } }],
    [{ circuitBreaker: { failureRatio: 0, windowMs: 5_000, leastRequests: 1 } }],
    [{ circuitBreaker: { windowMs: undefined } }],
    [{ concurrency: 1, adaptive: 'latency' }],
    [{ concurrency: 1000, adaptive: { strategy: 'latency', initialLimit: 1000 } }],
  ])('%j', (config) => {
    whole(config);
    part(config);
  });
});
