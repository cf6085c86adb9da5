import { EMPTY } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { throttle } from '../../../src/index.ts';

const limit = (more: object) => ({ limits: { tokens: { limit: 9, windowMs: 9, ...more } } });

describe('wrong limits of throttle', () => {
  it.each<[object, RegExp]>([
    [{ limits: {} }, /`limits` must name at least 1/],
    [{ limits: 5, requestsPerMinute: 5 }, /`limits`.*got 5/],
    [{ limits: [{ limit: 9, windowMs: 9 }] }, /`limits`.*an array of 1/],
    [{ limits: null }, /`limits`.*null/],
    [{ limits: { '': { limit: 9, windowMs: 9 } } }, /`limits` cannot have the name ""/],
    [limit({ limit: Number.NaN }), /`limits.tokens.limit`.*NaN/],
    [limit({ windowMs: '60' }), /`limits.tokens.windowMs`.*"60"/],
    [limit({ algorithm: 'leaky' }), /`limits.tokens.algorithm`.*"leaky"/],
    [limit({ burst: 4 }), /`limits.tokens.burst`/],
    [limit({ per: 'minute' }), /`per` is no option of limits.tokens/],
    [{ requestsPerMinute: Number.NaN }, /`requestsPerMinute`.*NaN/],
    [{ requestsPerMinute: 0 }, /`requestsPerMinute`.*got 0/],
    [{ tokensPerMinute: '9' }, /`tokensPerMinute`.*"9"/],
    [{ onLimit: 'drop' }, /`onLimit`.*"drop"/],
    [{ refundRejected: 1 }, /`refundRejected`.*got 1/],
    [{ pace: 0 }, /pace.*got 0/],
    [{ pace: true }, /pace.*got true/],
    [{ pace: null }, /pace.*got null/],
    [{ pace: { interval: 4 } }, /`interval` is no option of pace/],
    [{ pace: { intervalMs: -1 } }, /`pace.intervalMs`.*got -1/],
    [{ pace: { jitter: 2 } }, /`pace.jitter`.*got 2/],
    [{ circuitBreaker: 'on' }, /circuitBreaker.*got "on"/],
    [{ circuitBreaker: { threshold: 4 } }, /`threshold` is no option of circuitBreaker/],
    [{ circuitBreaker: { openMs: Number.NaN } }, /`circuitBreaker.openMs`.*NaN/],
    [{ circuitBreaker: { onOpen: 'drop' } }, /`circuitBreaker.onOpen`.*"drop"/],
    [{ adaptive: 'cooling' }, /`adaptive`.*"cooling"/],
    [{ adaptive: true }, /`adaptive`.*got true/],
    [{ adaptive: null }, /`adaptive`.*null/],
    [{ adaptive: 1 }, /`adaptive`.*got 1/],
    [{ adaptive: { strategy: 'rate', initialLimit: 0 } }, /`adaptive.initialLimit`.*got 0/],
    [{ adaptive: { strategy: 'rate', startPerSecond: 5 } }, /`startPerSecond` is no option/],
    [{ adaptive: {} }, /`adaptive.strategy`.*undefined/],
    [{ adaptive: { strategy: 'failures', tolerance: 2 } }, /`adaptive.tolerance`.*failures/],
    [{ adaptive: { strategy: 'latency', coolingMs: 2 } }, /`adaptive.coolingMs`.*latency/],
    [{ adaptive: { strategy: 'failures', maxLimit: 2 } }, /`maxLimit` is no option of adaptive/],
    [
      { adaptive: { strategy: 'failures', initialLimit: 9 }, concurrency: 4 },
      /`adaptive.initialLimit`.*got 9/,
    ],
    [{ adaptive: { strategy: 'latency', smoothing: 2 } }, /`adaptive.smoothing`.*got 2/],
    [{ adaptive: 'failures', isFailure: 5 }, /`isFailure`.*got 5/],
    [{ isFailure: 5 }, /`isFailure`.*got 5/],
    [{ priority: 5 }, /`priority`.*got 5/],
    [{ costs: {} }, /`costs`.*an object/],
    [{ maxQueue: 1.5 }, /`maxQueue`.*1.5/],
    [{ maxQueue: -1 }, /`maxQueue`.*-1/],
    [{ maxQueue: 4, overflow: 'drop' }, /`overflow`.*"drop"/],
    [{ waitTimeoutMs: 0 }, /`waitTimeoutMs`.*got 0/],
    [{ waitTimeoutMs: Number.NEGATIVE_INFINITY }, /`waitTimeoutMs`.*Infinity/],
    [{ agingMs: 0 }, /`agingMs`.*got 0/],
    [{ requestPerMinute: 5 }, /did you mean `requestsPerMinute`/],
  ])('are refused by name: %j', (options, message) => {
    expect(() => throttle(() => EMPTY, options)).toThrow(message);
  });
});
