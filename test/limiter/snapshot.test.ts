import { describe, expect, it } from 'vitest';
import { ApiError, tooMany } from '../request/harness.ts';
import { fate } from './harness.ts';
import { failing, rig, script } from './rig.ts';

describe('snapshot', () => {
  it('has the right figures at every step of a script', async () => {
    const { clock, limiter } = rig({
      concurrency: 4,
      pace: { intervalMs: 100, jitter: 0, maxIntervalMs: 1000 },
      limits: { tokens: { limit: 1000, windowMs: 10_000, charge: 'settle' } },
      adaptive: { strategy: 'failures', failureThreshold: 2, coolingMs: 1000 },
      total: 10,
    });
    /** By the names of the seed: `ThrottleSnapshot`. */
    const look = () => {
      const seen = limiter.snapshot();
      return {
        concurrency: seen.concurrency.limit,
        max_concurrency: seen.maxConcurrency,
        dispatch_interval: seen.intervalMs,
        completed_tasks: seen.progress.completed,
        total_tasks: seen.progress.total,
        failure_count: seen.failures,
        state: seen.state,
        safe_ceiling: seen.safeCeiling,
        eta_ms: seen.progress.etaMs,
        tokens_used: seen.tokensUsed,
        tokens_remaining: seen.tokensRemaining,
      };
    };
    const fresh = {
      concurrency: 4,
      max_concurrency: 4,
      dispatch_interval: 100,
      completed_tasks: 0,
      total_tasks: 10,
      failure_count: 0,
      state: 'running',
      safe_ceiling: 4,
      eta_ms: undefined,
      tokens_used: 0,
      tokens_remaining: 1000,
    };
    expect(look()).toEqual(fresh);
    const { run, end, fail } = script(limiter);
    run('a', { tokens: 100 });
    run('b', { tokens: 200 });
    await clock.advanceAsync(100);
    const running = { ...fresh, tokens_used: 300, tokens_remaining: 700 };
    expect(look()).toEqual(running);
    await clock.advanceAsync(300);
    end('a');
    await clock.advanceAsync(0);
    // One took 400 ms; nine are left, one after the other.
    const first = { ...running, completed_tasks: 1, eta_ms: 3600 };
    expect(look()).toEqual(first);
    fail('b', new ApiError(400));
    const lease = limiter.tryAcquire();
    lease?.recordTokens(50);
    lease?.release('failed', new ApiError(500));
    await clock.advanceAsync(0);
    expect(look()).toEqual({
      ...first,
      failure_count: 1,
      tokens_used: 350,
      tokens_remaining: 650,
      eta_ms: expect.closeTo(((800 / 3) * 7) / 2),
    });
    limiter.recordFailure(new ApiError(500));
    const slowed = {
      ...first,
      concurrency: 2,
      dispatch_interval: 200,
      tokens_used: 350,
      tokens_remaining: 650,
      eta_ms: expect.any(Number),
      completed_tasks: 1,
      state: 'cooling',
    };
    expect(look()).toEqual(slowed);
    await clock.advanceAsync(1000);
    expect(look()).toEqual({ ...slowed, concurrency: 3, dispatch_interval: 100 });
    await clock.advanceAsync(1000);
    expect(look()).toEqual({
      ...slowed,
      concurrency: 4,
      dispatch_interval: 100,
      state: 'running',
    });
    await clock.advanceAsync(10_000);
    expect(look()).toMatchObject({ tokens_used: 0, tokens_remaining: 1000 });
    limiter.close();
    expect(look().state).toBe('closed');
  });

  it('has the number of waiting requests, the longest wait, and the binding gate', async () => {
    const { clock, limiter } = rig({
      adaptive: false,
      concurrency: 4,
      maxBytes: 0,
      limits: { requests: { limit: 2, windowMs: 1000 } },
      pace: { intervalMs: 50, jitter: 0 },
    });
    const { run } = script(limiter);
    run('a');
    run('b');
    expect(limiter.snapshot()).toMatchObject({ waiting: 1, binding: 'pace' });
    await clock.advanceAsync(50);
    run('c', { bytes: 3 });
    run('d');
    run('e');
    await clock.advanceAsync(20);
    expect(limiter.snapshot()).toMatchObject({
      waiting: 3,
      binding: 'rateLimit',
      concurrency: { inFlight: 2, waiting: 0, longestWaitMs: 0, nextInMs: undefined },
      byteBudget: { used: 0, balance: 0, waiting: 0, longestWaitMs: 0 },
      backoff: { waiting: 3, waitsFor: 'rateLimit', longestWaitMs: 20, nextInMs: 930 },
      rateLimit: { requests: { limit: 2, used: 2, available: 0, resetMs: 980 } },
      pace: { intervalMs: 50, configuredIntervalMs: 50, nextInMs: 30 },
      circuitBreaker: undefined,
      adaptive: undefined,
      mode: 'normal',
      dropped: 0,
    });
  });

  it('names the gate of the next request: of a retry, if retries hold all slots', async () => {
    const { clock, limiter } = rig({ adaptive: false, concurrency: 2 });
    for (const _ of [1, 2, 3, 4]) {
      limiter.run(() => Promise.reject(tooMany(5_000))).catch(() => {});
    }
    await clock.advanceAsync(0);
    expect(limiter.snapshot()).toMatchObject({ waiting: 4, binding: 'backoff' });
    limiter.clear('the test is over');
  });

  it('counts how requests ended, each once', async () => {
    const { clock, limiter } = rig({
      adaptive: false,
      limits: { units: { limit: 5, windowMs: 10 } },
    });
    const answers = [tooMany(5), new ApiError(500), undefined];
    const ran = fate(
      limiter.run(() => {
        const error = answers.shift();
        if (error !== undefined) throw error;
      }),
    );
    await clock.runAllAsync();
    await failing(limiter, 2, new ApiError(400));
    (await limiter.acquire()).release('cancelled');
    await expect(limiter.acquire({ costs: { units: 6 } })).rejects.toThrow();
    await expect(limiter.acquire({ signal: AbortSignal.abort() })).rejects.toThrow();
    expect(ran.state).toBe('ok');
    expect(limiter.snapshot().ended).toEqual({ ok: 1, failed: 2, rejected: 1, cancelled: 2 });
  });

  it('changes nothing, and may be kept', async () => {
    const { clock, limiter } = rig({
      circuitBreaker: { consecutiveFailures: 1, openMs: 100 },
      adaptive: { strategy: 'failures', failureThreshold: 1, coolingMs: 100 },
      requestsPerMinute: 5,
    });
    await failing(limiter, 1, new ApiError(500));
    const before = limiter.snapshot();
    const copy = structuredClone(before);
    expect(limiter.snapshot()).toEqual(before);
    const timers = clock.pendingTimers;
    limiter.snapshot();
    expect(clock.pendingTimers).toBe(timers);
    await clock.advanceAsync(1000);
    expect(limiter.snapshot()).not.toEqual(before);
    expect(before).toEqual(copy);
  });
});
