import { describe, expect, it } from 'vitest';
import { idealMs, type Limit } from '../../bench/servers/limit.ts';

describe('the time of a client that knows everything', () => {
  it.each<[string, Limit, number, number]>([
    ['the first request comes at once', { kind: 'spaced', perSecond: 20, burst: 1 }, 1, 5],
    ['one of 20 a second each 50 ms', { kind: 'spaced', perSecond: 20, burst: 1 }, 301, 15_005],
    ['a burst comes at once', { kind: 'spaced', perSecond: 20, burst: 21 }, 21, 5],
    ['what follows a burst is spaced', { kind: 'spaced', perSecond: 20, burst: 21 }, 41, 1_005],
    [
      'a burst that is delayed gains nothing',
      { kind: 'spaced', perSecond: 20, burst: 21, isDelayed: true },
      41,
      2_005,
    ],
    ['a window takes its limit at once', { kind: 'window', limit: 60, windowMs: 6_000 }, 60, 5],
    ['one more waits for the next', { kind: 'window', limit: 60, windowMs: 6_000 }, 61, 6_005],
    ['the fifth window holds 300', { kind: 'window', limit: 60, windowMs: 6_000 }, 300, 24_005],
    ['a sliding one takes its limit, too', { kind: 'sliding', limit: 60, windowMs: 6_000 }, 60, 5],
    ['and then one each 100 ms', { kind: 'sliding', limit: 60, windowMs: 6_000 }, 61, 6_105],
    ['to the last', { kind: 'sliding', limit: 60, windowMs: 6_000 }, 300, 30_005],
    ['five in flight take a round each', { kind: 'in-flight', limit: 5 }, 300, 300],
    ['the last round may be short', { kind: 'in-flight', limit: 5 }, 301, 305],
  ])('%s', (_, limit, requests, ms) => {
    expect(idealMs(limit, 5, requests)).toBe(ms);
  });
});
