import { ManualClock } from 'headgate/simulator';
import { from } from 'rxjs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { memoryStore } from '../../../src/fleet/memory-store.ts';
import { chunkBy, createLimiter, Sized, throttle } from '../../../src/index.ts';
import { METRICS } from '../../../src/telemetry/metrics.ts';
import { type Sdk, startSdk } from '../../telemetry/sdk.ts';

let sdk: Sdk;
beforeEach(() => {
  sdk = startSdk();
});
afterEach(() => sdk.stop());

const rejected = (retryAfter: string) =>
  Object.assign(new Error('busy'), { status: 429, headers: { 'retry-after': retryAfter } });

describe('the metrics of a scripted run', () => {
  it('count requests, attempts, waits and bytes by their names', async () => {
    const clock = new ManualClock();
    const limiter = createLimiter({
      name: 'script',
      clock,
      concurrency: 1,
      random: () => 0.5,
      backoff: { reopen: 'all', throttledForMs: 0 },
      total: 4,
    });
    const sleep = (ms: number) => new Promise((resolve) => clock.setTimer(() => resolve(1), ms));
    let calls = 0;
    const sent = [
      limiter.run(
        async (context) => {
          calls += 1;
          await sleep(100);
          if (calls === 1) throw rejected('2');
          context.record('bytes', 50);
        },
        { bytes: 100 },
      ),
      limiter.run(() => sleep(300), { bytes: 10 }),
      limiter.run(() => Promise.reject(new TypeError('mine')), { bytes: 1 }).catch(() => {}),
    ];
    await clock.advanceAsync(50);
    const early = await sdk.collect();
    expect(early.value('headgate.request.active', {}, 'script')).toBe(1);
    expect(
      early.value('headgate.request.queued', { 'headgate.gate': 'concurrency' }, 'script'),
    ).toBe(2);
    expect(early.value('headgate.byte_budget.usage', {}, 'script')).toBe(100);
    await clock.advanceAsync(100);
    const closed = await sdk.collect();
    expect(closed.value('headgate.backoff.active', {}, 'script')).toBe(1);
    expect(closed.value('headgate.mode', { 'headgate.mode': 'throttled' }, 'script')).toBe(1);
    expect(closed.value('headgate.mode', { 'headgate.mode': 'normal' }, 'script')).toBe(0);
    expect(closed.value('headgate.request.queued', { 'headgate.gate': 'backoff' }, 'script')).toBe(
      1,
    );
    expect(closed.value('headgate.request.active', {}, 'script')).toBe(0);
    await clock.advanceAsync(10_000);
    await Promise.all(sent);

    const end = await sdk.collect();
    const value = (name: string, labels = {}) => end.value(name, labels, 'script');
    expect(value('headgate.requests', { 'headgate.outcome': 'ok' })).toBe(2);
    expect(value('headgate.requests', { 'headgate.outcome': 'failed' })).toBe(1);
    expect(value('headgate.requests', { 'headgate.outcome': 'cancelled' })).toBe(0);
    expect(value('headgate.attempts')).toBe(2);
    expect(value('headgate.attempts', { 'error.type': '429' })).toBe(1);
    expect(value('headgate.attempts', { 'error.type': 'TypeError' })).toBe(1);
    expect(value('headgate.request.size')).toBe(111);
    expect(value('headgate.request.active')).toBe(0);
    expect(value('headgate.byte_budget.usage')).toBe(0);
    expect(value('headgate.byte_budget.limit')).toBe(5 * 1024 * 1024);
    expect(value('headgate.concurrency.limit', { 'headgate.mode': 'normal' })).toBe(1);
    expect(value('headgate.concurrency.limit', { 'headgate.mode': 'throttled' })).toBe(10);
    expect(value('headgate.progress.completed')).toBe(3);
    expect(value('headgate.progress.expected')).toBe(4);
    const histogram = (name: string, labels = {}) => end.histogram(name, labels, 'script');
    expect(histogram('headgate.request.duration')).toEqual({ count: 2, sum: 2.2 + 2.5 });
    expect(histogram('headgate.request.duration', { 'error.type': 'TypeError' })).toEqual({
      count: 1,
      sum: 2.5,
    });
    expect(histogram('headgate.gate.wait.duration', { 'headgate.gate': 'backoff' })).toEqual({
      count: 1,
      sum: 2,
    });
    expect(histogram('headgate.gate.wait.duration', { 'headgate.gate': 'concurrency' })).toEqual({
      count: 2,
      sum: 2.2 + 2.5,
    });
    const source = { 'headgate.source': 'retry_after' };
    expect(histogram('headgate.backoff.duration', source)).toEqual({ count: 1, sum: 2 });
    const inBytes = { 'headgate.unit': 'bytes' };
    expect(histogram('headgate.byte_estimate.ratio', inBytes)).toEqual({ count: 1, sum: 2 });
  });

  it('count the tokens of a call that is abandoned, and compare no estimate with them', async () => {
    const clock = new ManualClock();
    const limiter = createLimiter({ clock });
    const aborting = new AbortController();
    const run = limiter.run(
      ({ recordTokens }) => {
        recordTokens(7);
        return new Promise(() => {});
      },
      { tokens: 30, signal: aborting.signal },
    );
    aborting.abort();
    await expect(run).rejects.toThrow();
    const lease = await limiter.acquire({ tokens: 30 });
    lease.recordTokens(9);
    lease.release('cancelled');
    const now = await sdk.collect();
    expect(now.value('headgate.tokens')).toBe(16);
    expect(now.points('headgate.byte_estimate.ratio')).toEqual([]);
  });

  it('compare estimates with answers only where there is an estimate', async () => {
    const clock = new ManualClock();
    const limiter = createLimiter({ clock });
    const ask = async () => ({ usage: { total_tokens: 15 } });
    await limiter.run(ask);
    const before = await sdk.collect();
    expect(before.value('headgate.tokens')).toBe(15);
    expect(before.points('headgate.byte_estimate.ratio')).toEqual([]);
    await limiter.run(ask, { tokens: 30 });
    const inTokens = { 'headgate.unit': 'tokens' };
    expect((await sdk.collect()).histogram('headgate.byte_estimate.ratio', inTokens)).toEqual({
      count: 1,
      sum: 2,
    });
  });

  it.each([10, 6_000])(
    'show a bucket with a burst of %d as used up when it is empty',
    async (burst) => {
      const clock = new ManualClock();
      const rule = { limit: 600, windowMs: 60_000, algorithm: 'token-bucket', burst } as const;
      const limiter = createLimiter({ clock, limits: { requests: rule } });
      for (let n = 0; n < burst; n += 1) limiter.tryAcquire()?.release();
      const now = await sdk.collect();
      const requests = { 'headgate.limit': 'requests' };
      expect(now.value('headgate.rate_limit.usage', requests)).toBe(burst);
      expect(now.value('headgate.rate_limit.limit', requests)).toBe(burst);
      expect(limiter.snapshot().rateLimit?.requests).toMatchObject({ limit: 600, available: 0 });
    },
  );

  it('show rate limits, pace and circuit breaker if they are on', async () => {
    const clock = new ManualClock();
    const limiter = createLimiter({
      clock,
      limits: {
        requests: { limit: 2, windowMs: 10_000 },
        tokens: { limit: 100, windowMs: 60_000 },
      },
      pace: { intervalMs: 50, jitter: 0 },
      circuitBreaker: { consecutiveFailures: 1 },
    });
    for (let n = 0; n < 3; n += 1) void limiter.run(async () => n, { tokens: 10 });
    await clock.advanceAsync(200);
    const now = await sdk.collect();
    expect(now.value('headgate.rate_limit.usage', { 'headgate.limit': 'requests' })).toBe(2);
    expect(now.value('headgate.rate_limit.limit', { 'headgate.limit': 'tokens' })).toBe(100);
    expect(now.value('headgate.rate_limit.usage', { 'headgate.limit': 'tokens' })).toBe(20);
    expect(now.value('headgate.rate_limit.denied', { 'headgate.limit': 'requests' })).toBe(1);
    expect(now.value('headgate.rate_limit.denied', { 'headgate.limit': 'tokens' })).toBe(0);
    expect(now.value('headgate.request.queued', { 'headgate.gate': 'rateLimit' })).toBe(1);
    expect(now.value('headgate.rate.target', { 'headgate.source': 'limit' })).toBe(0.2);
    expect(now.value('headgate.dispatch.interval')).toBe(0.05);
    expect(now.value('headgate.circuit.state', { 'headgate.state': 'closed' })).toBe(1);
    await clock.advanceAsync(20_000);
    limiter.recordFailure();
    const open = await sdk.collect();
    expect(open.value('headgate.circuit.state', { 'headgate.state': 'open' })).toBe(1);
    expect(open.value('headgate.circuit.state', { 'headgate.state': 'closed' })).toBe(0);
  });

  it('count chunks, by why they closed', async () => {
    from([1, 2, 3, 4, 5].map((n) => new Sized(n, 10)))
      .pipe(
        chunkBy({ maxItems: 2 }),
        throttle(async (items: number[]) => items.length),
      )
      .subscribe();
    const now = await sdk.collect();
    expect(now.value('headgate.chunk.flushes', { 'headgate.reason': 'items' })).toBe(2);
    expect(now.value('headgate.chunk.flushes', { 'headgate.reason': 'complete' })).toBe(1);
    expect(now.value('headgate.chunk.flushes', { 'headgate.reason': 'bytes' })).toBe(0);
    expect(now.histogram('headgate.chunk.size')).toEqual({ count: 3, sum: 5 });
  });

  it('are those of the table, with its units, and all that is no histogram from the start', async () => {
    createLimiter({
      requestsPerMinute: 60,
      pace: {},
      circuitBreaker: true,
      costBudget: { maxCost: 1, windowMs: 60_000 },
      total: 1,
    });
    // The counters of a store begin with its first call.
    await createLimiter({ shared: memoryStore() }).run(() => 1);
    const { metrics } = await sdk.collect();
    const units = new Map(metrics.map(({ descriptor: { name, unit } }) => [name, unit]));
    for (const { name, unit, instrument } of Object.values(METRICS)) {
      if (instrument !== 'histogram') expect([name, units.get(name)]).toEqual([name, unit]);
    }
    const known: readonly string[] = Object.values(METRICS).map(({ name }) => name);
    for (const name of units.keys()) expect(known).toContain(name);
  });
});

describe('a pause', () => {
  it('is a gauge, 0 after it, and the gate of waiting requests', async () => {
    const clock = new ManualClock();
    const limiter = createLimiter({ name: 'paused', clock });
    limiter.pause('deploying');
    const waiting = limiter.run(() => 1);
    await clock.advanceAsync(2_000);
    const paused = { 'headgate.gate': 'paused' };
    const during = await sdk.collect();
    expect(during.value('headgate.paused', {}, 'paused')).toBe(1);
    expect(during.value('headgate.request.queued', paused, 'paused')).toBe(1);
    limiter.resume();
    await waiting;
    const after = await sdk.collect();
    expect(after.value('headgate.paused', {}, 'paused')).toBe(0);
    expect(after.value('headgate.request.queued', paused, 'paused')).toBe(0);
    expect(after.histogram('headgate.gate.wait.duration', paused, 'paused')).toMatchObject({
      sum: 2,
      count: 1,
    });
  });
});
