import { describe, expect, it } from 'vitest';
import { QueueFullError, WaitTimeoutError } from '../../src/index.ts';
import { expectIdle, fate } from './harness.ts';
import { rig, script } from './rig.ts';

describe('configure, while requests wait and run,', () => {
  it('admits waiters at once under a raised concurrency, in order', async () => {
    const { limiter } = rig({ concurrency: 1 });
    const { started, run } = script(limiter);
    for (const name of ['a', 'b', 'c', 'd']) run(name);
    limiter.configure({ concurrency: 3 });
    expect(started).toEqual(['a', 'b', 'c']);
    expect(limiter.snapshot()).toMatchObject({
      concurrency: { limit: 3, inFlight: 3, waiting: 1 },
      maxConcurrency: 3,
      safeCeiling: 3,
    });
  });

  it('lets requests in flight finish under a lowered concurrency, and admits none before', async () => {
    const { clock, limiter } = rig({ concurrency: 3 });
    const { started, run, end } = script(limiter);
    for (const name of ['a', 'b', 'c', 'd', 'e']) run(name);
    limiter.configure({ concurrency: 1 });
    for (const name of ['a', 'b']) {
      end(name);
      await clock.advanceAsync(0);
      expect(started).toHaveLength(3);
    }
    end('c');
    await clock.advanceAsync(0);
    expect(started).toEqual(['a', 'b', 'c', 'd']);
    expect(limiter.snapshot().concurrency).toMatchObject({ inFlight: 1, waiting: 1 });
  });

  it('changes the slots of throttled mode', async () => {
    const { clock, limiter } = rig({ throttledConcurrency: 1, backoff: { reopen: 'all' } });
    limiter.feedback.next({ kind: 'throttled', retryAfterMs: 1 });
    await clock.advanceAsync(1);
    const { started, run } = script(limiter);
    for (const name of ['a', 'b', 'c']) run(name);
    expect(started).toEqual(['a']);
    limiter.configure({ throttledConcurrency: 2 });
    expect(started).toEqual(['a', 'b']);
  });

  it('changes the bytes', async () => {
    const { limiter } = rig({ maxBytes: 10 });
    const { started, run } = script(limiter);
    for (const name of ['a', 'b', 'c']) run(name, { bytes: 15 });
    expect(started).toEqual(['a']);
    limiter.configure({ maxBytes: 15 });
    expect(started).toEqual(['a', 'b']);
    limiter.configure({ maxBytes: 0 });
    expect(limiter.snapshot().byteBudget).toMatchObject({ maxBytes: 0, used: 30, waiting: 1 });
  });

  it('changes rate limits, and keeps the used amounts', async () => {
    const { clock, limiter } = rig({
      limits: { units: { limit: 2, windowMs: 1000 } },
      requestsPerMinute: 100,
    });
    const unit = { costs: { units: 1 } };
    const told = [1, 2, 3, 4].map(() => fate(limiter.acquire(unit)));
    await clock.advanceAsync(0);
    const granted = () => told.filter(({ state }) => state === 'ok').length;
    expect(granted()).toBe(2);
    limiter.configure({ limits: { units: { limit: 3, windowMs: 1000 } }, requestsPerMinute: 50 });
    await clock.advanceAsync(0);
    expect(granted()).toBe(3);
    expect(limiter.snapshot().rateLimit).toMatchObject({
      units: { limit: 3, used: 3 },
      requests: { limit: 50, used: 0 + 3 },
    });
    limiter.configure({ limits: { units: { limit: 1, windowMs: 1000 } } });
    await clock.advanceAsync(1000);
    expect(granted()).toBe(4);
  });

  it('fails waiting requests whose cost is above a lowered limit, when their turn comes', async () => {
    const { clock, limiter } = rig({ limits: { units: { limit: 10, windowMs: 1000 } } });
    await limiter.acquire({ costs: { units: 10 } });
    const large = fate(limiter.acquire({ costs: { units: 8 } }));
    const small = fate(limiter.acquire({ costs: { units: 2 } }));
    limiter.configure({ limits: { units: { limit: 5, windowMs: 1000 } } });
    await clock.runAllAsync();
    expect(large.error).toMatchObject({ code: 'COST_ABOVE_LIMIT', cost: 8, maxCost: 5 });
    expect(small.state).toBe('ok');
    expect(limiter.snapshot()).toMatchObject({ waiting: 0, ended: { rejected: 1 } });
  });

  it('changes the pace, including the running pause', async () => {
    const { clock, limiter } = rig({ pace: { intervalMs: 1000, jitter: 0 } });
    await limiter.acquire();
    const next = fate(limiter.acquire());
    await clock.advanceAsync(100);
    limiter.configure({ pace: { intervalMs: 150, jitter: 0 } });
    await clock.advanceAsync(49);
    expect(next.state).toBe('open');
    await clock.advanceAsync(1);
    expect(next.state).toBe('ok');
    expect(limiter.snapshot()).toMatchObject({ intervalMs: 150, pace: { nextInMs: 150 } });
  });

  it.each([
    ['of requests that wait for a slot', { concurrency: 1 }],
    ['of requests that wait for the end of a backoff', { concurrency: 9 }],
  ])('bounds a queue that had no bound: %s', async (_name, options) => {
    const { clock, limiter } = rig({ ...options, backoff: { reopen: 'all' } });
    if (options.concurrency === 1) await limiter.acquire();
    else limiter.feedback.next({ kind: 'throttled' });
    fate(limiter.acquire());
    fate(limiter.acquire());
    limiter.configure({ maxQueue: 2 });
    const full = fate(limiter.acquire());
    await clock.advanceAsync(0);
    expect(full.error).toBeInstanceOf(QueueFullError);
    limiter.configure({ maxQueue: 3 });
    const third = fate(limiter.acquire());
    limiter.configure({ overflow: 'drop-oldest' });
    const fourth = fate(limiter.acquire());
    await clock.advanceAsync(0);
    expect([third.state, fourth.state]).toEqual(['open', 'open']);
    expect(limiter.snapshot()).toMatchObject({ waiting: 3, dropped: 2 });
  });

  it('changes the bound of the wait for new and for waiting requests', async () => {
    const { clock, limiter } = rig({ waitTimeoutMs: 1000 });
    limiter.feedback.next({ kind: 'throttled', retryAfterMs: 10_000 });
    const early = fate(limiter.acquire());
    await clock.advanceAsync(50);
    limiter.configure({ waitTimeoutMs: 200 });
    const late = fate(limiter.acquire());
    await clock.advanceAsync(150);
    expect(early.error).toBeInstanceOf(WaitTimeoutError);
    expect(late.state).toBe('open');
    limiter.configure({ waitTimeoutMs: 500 });
    await clock.advanceAsync(349);
    expect(late.state).toBe('open');
    await clock.advanceAsync(1);
    expect(late.error).toMatchObject({ waitTimeoutMs: 500, gate: 'backoff' });
    expectIdle(limiter);
  });

  it('bounds the wait of newcomers where there was no bound', async () => {
    const { clock, limiter } = rig();
    limiter.feedback.next({ kind: 'throttled', retryAfterMs: 10_000 });
    limiter.configure({ waitTimeoutMs: 100 });
    const next = fate(limiter.acquire());
    await clock.advanceAsync(100);
    expect(next.error).toMatchObject({ code: 'WAIT_TIMEOUT', gate: 'backoff' });
  });

  it('removes the bounds of the queue and of the wait, for waiting requests too', async () => {
    const { clock, limiter } = rig({
      concurrency: 1,
      maxQueue: 1,
      waitTimeoutMs: 100,
      attemptTimeoutMs: Number.POSITIVE_INFINITY,
    });
    const { run, end } = script(limiter);
    run('first');
    const second = run('second');
    const tooMany = run('one too many');
    await clock.advanceAsync(0);
    expect(tooMany.error).toBeInstanceOf(QueueFullError);
    limiter.configure({ maxQueue: Number.POSITIVE_INFINITY });
    const third = run('third');
    await clock.advanceAsync(99);
    limiter.configure({ waitTimeoutMs: Number.POSITIVE_INFINITY });
    expect(clock.pendingTimers).toBe(0);
    const fourth = run('fourth');
    await clock.advanceAsync(10_000);
    expect([second, third, fourth].map(({ state }) => state)).toEqual(['open', 'open', 'open']);
    for (const name of ['first', 'second', 'third', 'fourth']) {
      end(name);
      await clock.advanceAsync(0);
    }
    expect([second, third, fourth].map(({ value }) => value)).toEqual([
      'second',
      'third',
      'fourth',
    ]);
    expectIdle(limiter);
  });

  it('changes the bound of the queue, and keeps `overflow`', async () => {
    const { clock, limiter } = rig({ concurrency: 1, maxQueue: 5, overflow: 'drop-oldest' });
    await limiter.acquire();
    const told = [fate(limiter.acquire()), fate(limiter.acquire())];
    limiter.configure({ maxQueue: 2 });
    told.push(fate(limiter.acquire()));
    await clock.advanceAsync(0);
    expect(told.map(({ state }) => state)).toEqual(['failed', 'open', 'open']);
  });

  it('bounds the queue for the first time, and applies the `overflow` of the start', async () => {
    const { clock, limiter } = rig({ concurrency: 1, overflow: 'drop-oldest' });
    await limiter.acquire();
    const told = [fate(limiter.acquire())];
    limiter.configure({ maxQueue: 1 });
    told.push(fate(limiter.acquire()));
    await clock.advanceAsync(0);
    expect(told.map(({ state }) => state)).toEqual(['failed', 'open']);
  });

  it('makes several changes at once, and no others', async () => {
    const { limiter } = rig({ concurrency: 5, maxBytes: 100, requestsPerMinute: 7, total: 3 });
    limiter.configure({ concurrency: 6, maxBytes: 200, total: 4 });
    limiter.configure({ concurrency: undefined, total: undefined } as object);
    expect(limiter.snapshot()).toMatchObject({
      concurrency: { limit: 6, throttledLimit: 10 },
      byteBudget: { maxBytes: 200 },
      rateLimit: { requests: { limit: 7 } },
      progress: { total: 4 },
    });
  });

  it('refuses a limit that is named twice, also where one of both removes it', () => {
    const requests = { limit: 5, windowMs: 1_000 };
    const { limiter } = rig({ limits: { requests }, tokensPerMinute: 100 });
    for (const changes of [
      { requestsPerMinute: null, limits: { requests } },
      { requestsPerMinute: 5, limits: { requests: null } },
      { requestsPerMinute: null, limits: { requests: null } },
    ]) {
      expect(() => limiter.configure(changes)).toThrow(
        '`requestsPerMinute` and `limits.requests` exclude each other',
      );
    }
    expect(() => limiter.configure({ tokensPerMinute: null, limits: { tokens: null } })).toThrow(
      '`tokensPerMinute` and `limits.tokens` exclude each other',
    );
    expect(limiter.snapshot().rateLimit).toMatchObject({ requests: { limit: 5 }, tokens: {} });
  });
});
