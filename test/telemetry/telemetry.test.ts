import { metrics } from '@opentelemetry/api';
import { ManualClock } from 'headgate/simulator';
import { from, range } from 'rxjs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { telemetryInstrumentation } from '../../src/advanced.ts';
import {
  concurrencyLimit,
  createLimiter,
  createLimiterGroup,
  dispatch,
  FeedbackSubject,
  throttle,
} from '../../src/index.ts';
import { type Sdk, startSdk } from './sdk.ts';

let sdk: Sdk;
beforeEach(() => {
  sdk = startSdk();
});
afterEach(() => sdk.stop());

const OK = { 'headgate.outcome': 'ok' };
const NORMAL = { 'headgate.mode': 'normal' };
/** Far more than there are series of one name. */
const VERY_MANY = 1_000;

describe('the series of a name', () => {
  it('are the sum over all limiters, streams and gates of that name', async () => {
    const one = createLimiter({ name: 'shared', concurrency: 3 });
    const two = createLimiter({ name: 'shared', concurrency: 4 });
    const other = createLimiter({ name: 'other', concurrency: 5 });
    await Promise.all([one, two, other].map((limiter) => limiter.run(async () => 1)));
    const instrumentation = telemetryInstrumentation({ name: 'shared' });
    await new Promise<void>((complete) => {
      from([1, 2])
        .pipe(
          concurrencyLimit<number>({ ...(instrumentation && { instrumentation }) }),
          dispatch(async (n: number) => n, { ...(instrumentation && { instrumentation }) }),
        )
        .subscribe({ complete });
    });
    const now = await sdk.collect();
    expect(now.value('headgate.requests', OK, 'shared')).toBe(4);
    expect(now.value('headgate.requests', OK, 'other')).toBe(1);
    expect(now.value('headgate.concurrency.limit', NORMAL, 'shared')).toBe(7);
    one.close();
    two.close();
    const later = await sdk.collect();
    expect(later.value('headgate.concurrency.limit', NORMAL, 'shared')).toBe(0);
    expect(later.value('headgate.progress.completed', {}, 'shared')).toBe(1);
    expect(later.value('headgate.requests', OK, 'shared')).toBe(4);
  });

  it('of a group are those of all keys, without the keys’ names', async () => {
    const group = createLimiterGroup((key: string) => key, {
      name: 'tenants',
      each: { concurrency: 2 },
      shared: { requestsPerMinute: 2 },
    });
    for (const key of ['secret-a', 'secret-b']) await group.run(key, async () => key);
    void group.run('secret-c', async () => 3);
    const now = await sdk.collect();
    expect(now.value('headgate.requests', OK, 'tenants')).toBe(2);
    expect(now.value('headgate.concurrency.limit', NORMAL, 'tenants')).toBe(6);
    const limit = { 'headgate.limit': 'shared.requests' };
    expect(now.value('headgate.rate_limit.usage', limit, 'tenants')).toBe(2);
    expect(now.value('headgate.rate_limit.denied', limit, 'tenants')).toBe(1);
    expect(
      JSON.stringify([now.metrics, sdk.finished().map((span) => span.attributes)]),
    ).not.toContain('secret');
  });

  it('of a group show the limits that all keys share', async () => {
    const group = createLimiterGroup((key: string) => key, {
      name: 'shared limits',
      each: { concurrency: 2 },
      shared: {
        concurrency: 5,
        maxBytes: 1_000,
        costBudget: { maxCost: 20, windowMs: 60_000, inputPrice: 1e6 },
        pace: { intervalMs: 3_000, jitter: 0 },
      },
    });
    const seen = async (metric: string, labels = {}) =>
      (await sdk.collect()).value(`headgate.${metric}`, labels, 'shared limits');
    await group.run('a', async () => 1, { tokens: 3, bytes: 12 });
    expect(await seen('concurrency.limit', NORMAL)).toBe(2); // of one key, which has two slots
    for (const key of ['a', 'b', 'c']) group.run(key, async () => 1, { tokens: 1 }).catch(() => {});
    expect(await seen('concurrency.limit', NORMAL)).toBe(5);
    expect(await seen('concurrency.limit', { 'headgate.mode': 'throttled' })).toBe(5);
    expect(await seen('byte_budget.limit')).toBe(1_000);
    expect(await seen('cost_budget.limit')).toBe(20);
    expect(await seen('cost_budget.usage')).toBe(3);
    expect(await seen('dispatch.interval')).toBe(3);
    group.close({ waiting: 'reject' });
    await group.drain();
  });

  it('of two groups of one name are the sums of what their keys share', async () => {
    const costBudget = { maxCost: 20, windowMs: 60_000, inputPrice: 1e6 };
    const groups = [1, 2].map(() =>
      createLimiterGroup((key: string) => key, { name: 'twins', shared: { costBudget } }),
    );
    for (const group of groups) await group.run('a', async () => 1, { tokens: 3 });
    const now = await sdk.collect();
    expect(now.value('headgate.cost_budget.limit', {}, 'twins')).toBe(40);
    expect(now.value('headgate.cost_budget.usage', {}, 'twins')).toBe(6);
  });

  it('count the backoffs of a shared feedback once for each name', async () => {
    const feedback = new FeedbackSubject({ clock: new ManualClock() });
    for (const name of ['a', 'a', 'b']) createLimiter({ name, feedback });
    feedback.next({ kind: 'throttled', retryAfterMs: 3_000 });
    feedback.next({ kind: 'throttled', retryAfterMs: 4_000 });
    const now = await sdk.collect();
    const source = { 'headgate.source': 'retry_after' };
    for (const name of ['a', 'b']) {
      expect(now.histogram('headgate.backoff.duration', source, name)).toEqual({
        count: 2,
        sum: 4,
      });
    }
  });

  it('stay few for any number of errors and names', async () => {
    const run = (source: number) =>
      new Promise<void>((complete) => {
        const fail = (n: number) => {
          const Odd = { [`Odd${n}`]: class extends Error {} }[`Odd${n}`] ?? Error;
          return Promise.reject(new Odd('odd'));
        };
        range(0, source)
          .pipe(throttle(fail, { outcomes: true }))
          .subscribe({ complete });
      });
    await run(VERY_MANY);
    const now = await sdk.collect();
    expect(now.points('headgate.attempts')).toHaveLength(12);
    expect(now.points('headgate.request.duration')).toHaveLength(7);
    expect(now.value('headgate.attempts', { 'error.type': '_OTHER' })).toBe(VERY_MANY - 6);
    // What alerts are about has a place that the others leave free.
    const rejected = () => Promise.reject(Object.assign(new Error('busy'), { status: 429 }));
    await createLimiter({ maxAttempts: 1 })
      .run(rejected)
      .catch(() => {});
    const later = await sdk.collect();
    expect(later.value('headgate.attempts', { 'error.type': '429' })).toBe(1);
    for (let n = 0; n < VERY_MANY; n += 1) createLimiter({ name: `n${n}` });
    const many = await sdk.collect();
    expect(many.points('headgate.request.active').length).toBeLessThanOrEqual(101);
    expect(many.value('headgate.request.active', {}, '_OTHER')).toBe(0);
  });
});

describe('an SDK', () => {
  it('that is registered later serves limiters and streams that are made from then on', async () => {
    await sdk.stop();
    const early = createLimiter({ name: 'early' });
    const operator = throttle(async (n: number) => n, { name: 'stream' });
    sdk = startSdk();
    const run = () =>
      new Promise<void>((complete) => {
        from([1, 2]).pipe(operator).subscribe({ complete });
      });
    await run();
    await early.run(async () => 1);
    const now = await sdk.collect();
    expect(now.value('headgate.requests', OK, 'stream')).toBe(2);
    expect(now.value('headgate.requests', OK, 'early')).toBeUndefined();
  });

  it('that has shut down affects no request', async () => {
    const limiter = createLimiter();
    await sdk.stop();
    expect(await limiter.run(async () => 'fine')).toBe('fine');
    expect(telemetryInstrumentation()).toBeUndefined();
    sdk = startSdk();
  });

  it.each([true, 'on'])(
    'is refused if telemetry is %j, which may be options or false',
    (telemetry) => {
      const make = () => createLimiter({ telemetry: telemetry as never });
      expect(make).toThrow('`telemetry` must be an object of options, or false, got ');
    },
  );

  it('is not used if telemetry is off, and a given meter is', async () => {
    expect(telemetryInstrumentation({ telemetry: false })).toBeUndefined();
    await createLimiter({ telemetry: { spans: 'off' } }).run(async () => 1);
    await createLimiter({ telemetry: false, name: 'quiet' }).run(async () => 1);
    expect(sdk.finished()).toEqual([]);
    const now = await sdk.collect();
    expect(now.value('headgate.requests', OK)).toBe(1);
    expect(now.value('headgate.requests', OK, 'quiet')).toBeUndefined();
    const meter = metrics.getMeter('mine');
    await createLimiter({ name: 'given', telemetry: { meter } }).run(async () => 1);
    expect((await sdk.collect()).value('headgate.requests', OK, 'given')).toBe(1);
  });
});
