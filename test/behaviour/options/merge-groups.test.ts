import { describe, expect, it } from 'vitest';
import type { LimiterLayer } from '../../../src/options/limiter-config.ts';
import { mergeLimiterOptions as merge } from '../../../src/options/sources.ts';
import { frozen } from '../../options/configs.ts';

describe('a group', () => {
  const cases: readonly [name: string, sources: readonly LimiterLayer[], merged: LimiterLayer][] = [
    [
      'that is on, with options of a weaker',
      [{ circuitBreaker: true }, { circuitBreaker: { openMs: 5 } }],
      { circuitBreaker: { openMs: 5 } },
    ],
    [
      'that is on, with options of a stronger',
      [{ circuitBreaker: { openMs: 5 } }, { circuitBreaker: true }],
      { circuitBreaker: { openMs: 5 } },
    ],
    [
      'that is off, with options of a weaker',
      [{ circuitBreaker: false }, { circuitBreaker: { openMs: 5 } }],
      { circuitBreaker: false },
    ],
    [
      'that is off in a weaker, with options of a stronger',
      [{ circuitBreaker: { openMs: 5 } }, { circuitBreaker: false }],
      { circuitBreaker: { openMs: 5 } },
    ],
    [
      'that is on, and off in a weaker',
      [{ circuitBreaker: true }, { circuitBreaker: false }],
      { circuitBreaker: true },
    ],
    [
      'that is off, and on in a weaker',
      [{ circuitBreaker: false }, { circuitBreaker: true }],
      { circuitBreaker: false },
    ],
    [
      'that is on twice',
      [{ circuitBreaker: true }, { circuitBreaker: true }],
      { circuitBreaker: true },
    ],
    [
      'of a strategy, with options of a weaker',
      [{ adaptive: 'failures' }, { adaptive: { strategy: 'failures', coolingMs: 5 } }],
      { adaptive: { strategy: 'failures', coolingMs: 5 } },
    ],
    [
      'of a strategy, with options of a stronger',
      [{ adaptive: { coolingMs: 5 } }, { adaptive: 'failures' }],
      { adaptive: { strategy: 'failures', coolingMs: 5 } },
    ],
    [
      'of a strategy that is said twice',
      [{ adaptive: 'failures' }, { adaptive: 'failures' }],
      { adaptive: 'failures' },
    ],
    [
      'of another strategy, as a word',
      [
        { adaptive: 'latency' },
        { adaptive: { strategy: 'failures', coolingMs: 5, initialLimit: 3 } },
      ],
      { adaptive: { strategy: 'latency', initialLimit: 3 } },
    ],
    [
      'of another strategy, with its options',
      [
        { adaptive: { strategy: 'failures', coolingMs: 5 } },
        { adaptive: { strategy: 'latency', minLimit: 2 } },
      ],
      { adaptive: { strategy: 'failures', coolingMs: 5 } },
    ],
    [
      'of another strategy, two sources away',
      [{ adaptive: 'failures' }, { maxQueue: 1 }, { adaptive: { tolerance: 5 } }],
      { adaptive: 'failures', maxQueue: 1 },
    ],
    [
      'of another strategy than that between',
      [
        { adaptive: 'failures' },
        { adaptive: 'latency' },
        { adaptive: { strategy: 'failures', coolingMs: 5 } },
      ],
      { adaptive: 'failures' },
    ],
    [
      'of another word',
      [{ adaptive: 'failures' }, { adaptive: 'latency' }],
      { adaptive: 'failures' },
    ],
    [
      'of another strategy, said in the long form',
      [{ adaptive: { strategy: 'failures' } }, { adaptive: 'latency' }],
      { adaptive: { strategy: 'failures' } },
    ],
    [
      'of a strategy, undefined options apart',
      [{ adaptive: 'failures' }, { adaptive: { coolingMs: undefined } }],
      { adaptive: 'failures' },
    ],
    [
      'of no strategy',
      [{ adaptive: { tolerance: 2 } }, { adaptive: 'latency' }],
      { adaptive: { tolerance: 2, strategy: 'latency' } },
    ],
    [
      'that is off, over its options',
      [{ adaptive: false }, { adaptive: { strategy: 'rate', initialLimit: 5 } }],
      { adaptive: false },
    ],
    ['that is off, over on', [{ adaptive: false }, { adaptive: 'rate' }], { adaptive: false }],
    ['that is on, over off', [{ adaptive: 'rate' }, { adaptive: false }], { adaptive: 'rate' }],
    [
      'with options, over off',
      [{ adaptive: { strategy: 'rate', initialLimit: 5 } }, { adaptive: false }],
      { adaptive: { strategy: 'rate', initialLimit: 5 } },
    ],
    [
      'that is off between two others',
      [{ maxQueue: 1 }, { adaptive: false }, { adaptive: 'failures' }],
      { adaptive: false, maxQueue: 1 },
    ],
    [
      'with options of the rate, over on',
      [{ adaptive: { initialLimit: 5 } }, { adaptive: 'rate' }],
      { adaptive: { strategy: 'rate', initialLimit: 5 } },
    ],
    [
      'that is on, over options of the rate',
      [{ adaptive: 'rate' }, { adaptive: { initialLimit: 5 } }],
      { adaptive: { strategy: 'rate', initialLimit: 5 } },
    ],
    [
      'that is on, over another strategy',
      [{ adaptive: 'rate' }, { adaptive: { strategy: 'failures', coolingMs: 5, initialLimit: 3 } }],
      { adaptive: { strategy: 'rate', initialLimit: 3 } },
    ],
    [
      'of a limit, field by field',
      [
        { limits: { a: { limit: 5 } } },
        { limits: { a: { limit: 6, windowMs: 7 }, b: { limit: 8 } } },
      ],
      { limits: { a: { limit: 5, windowMs: 7 }, b: { limit: 8 } } },
    ],
    [
      'of a limit, undefined fields apart',
      [{ limits: { a: { limit: undefined, charge: 'settle' } } }, { limits: { a: { limit: 6 } } }],
      { limits: { a: { limit: 6, charge: 'settle' } } },
    ],
    [
      'of a limit with another algorithm',
      [
        { limits: { a: { algorithm: 'fixed-window' } } },
        { limits: { a: { limit: 6, algorithm: 'token-bucket', burst: 9 } } },
      ],
      { limits: { a: { limit: 6, algorithm: 'fixed-window' } } },
    ],
    [
      'of a limit with the same algorithm',
      [{ limits: { a: { algorithm: 'token-bucket' } } }, { limits: { a: { burst: 9 } } }],
      { limits: { a: { algorithm: 'token-bucket', burst: 9 } } },
    ],
    [
      'of limits behind a shorthand',
      [{ requestsPerMinute: 5 }, { limits: { requests: { limit: 6, windowMs: 7 } } }],
      { requestsPerMinute: 5 },
    ],
    [
      'of limits, some behind a shorthand',
      [{ tokensPerMinute: 5 }, { limits: { tokens: { limit: 6 }, requests: { limit: 1 } } }],
      { tokensPerMinute: 5, limits: { requests: { limit: 1 } } },
    ],
    [
      'of limits before a shorthand',
      [
        { limits: { requests: { limit: 6, windowMs: 7 } } },
        { requestsPerMinute: 5, tokensPerMinute: 4 },
      ],
      { limits: { requests: { limit: 6, windowMs: 7 } }, tokensPerMinute: 4 },
    ],
    [
      'of limits beside other limits before a shorthand',
      [
        { requestsPerMinute: 5, limits: { a: { limit: 1 } } },
        { limits: { requests: { limit: 6 }, b: { limit: 2 } } },
      ],
      { requestsPerMinute: 5, limits: { a: { limit: 1 }, b: { limit: 2 } } },
    ],
    [
      'of limits, three in a row',
      [
        { limits: { requests: { limit: 6 } } },
        { requestsPerMinute: 5 },
        { limits: { requests: { windowMs: 7 } } },
      ],
      { limits: { requests: { limit: 6 } } },
    ],
    [
      'that is undefined',
      [
        { backoff: undefined, limits: undefined, adaptive: undefined },
        { backoff: { backoffMs: 1 }, adaptive: 'failures' },
      ],
      { backoff: { backoffMs: 1 }, adaptive: 'failures' },
    ],
  ];

  it.each(cases)('%s', (_name, sources, merged) => {
    for (const source of sources) frozen(source);
    expect(merge(...sources)).toStrictEqual(merged);
  });
});
