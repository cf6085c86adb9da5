import { describe, expect, it } from 'vitest';
import type { LimiterEvent } from '../../src/index.ts';
import { ApiError, tooMany } from '../request/harness.ts';
import { fate } from './harness.ts';
import { failing, listen, rig, timeline } from './rig.ts';

/** Without those that everything makes. */
const of = (events: readonly LimiterEvent[], ...kinds: LimiterEvent['kind'][]) =>
  events.filter(({ kind }) => kinds.includes(kind));

describe('events$', () => {
  it('emits a deceleration, each step back, and the ceiling, at their times', async () => {
    const { clock, limiter } = rig({
      concurrency: 8,
      pace: { intervalMs: 100, jitter: 0 },
      adaptive: { strategy: 'failures', failureThreshold: 2, coolingMs: 1000 },
    });
    const events = listen(limiter);
    for (const at of [0, 200]) {
      await clock.advanceAsync(at - clock.now());
      const lease = limiter.tryAcquire();
      lease?.release('failed', new ApiError(500));
    }
    expect(events).toEqual([
      { kind: 'decelerated', level: 'info', at: 200, from: 8, to: 4, intervalMs: 200 },
      { kind: 'coolingStarted', level: 'debug', at: 200, untilAt: 1200 },
    ]);
    for (let count = 0; count < 2; count += 1) limiter.recordFailure(new ApiError(500));
    expect(events[2]).toEqual({
      kind: 'decelerated',
      level: 'info',
      at: 200,
      from: 4,
      to: 2,
      intervalMs: 400,
    });
    events.length = 0;
    await clock.runAllAsync();
    expect(events).toMatchObject([
      { kind: 'reaccelerated', at: 1200, from: 2, to: 3, intervalMs: 200, level: 'info' },
      { kind: 'reaccelerated', at: 2200, from: 3, to: 4, intervalMs: 100 },
      { kind: 'ceilingReset', at: 5200, from: 4, to: 8, level: 'info' },
      { kind: 'reaccelerated', at: 6200, from: 4, to: 5 },
      { kind: 'reaccelerated', at: 7200, from: 5, to: 6 },
      { kind: 'reaccelerated', at: 8200, from: 6, to: 7 },
      { kind: 'reaccelerated', at: 9200, from: 7, to: 8 },
    ]);
    expect(clock.pendingTimers).toBe(0);
  });

  it('emits changes of the circuit on time, without a request', async () => {
    const { clock, limiter } = rig({ circuitBreaker: { consecutiveFailures: 2, openMs: 500 } });
    const events = listen(limiter);
    await failing(limiter, 2, new ApiError(500));
    const heard: number[] = [];
    limiter.events$.subscribe(() => heard.push(clock.now()));
    await clock.advanceAsync(10_000);
    const probe = limiter.tryAcquire();
    probe?.release('failed', new ApiError(500));
    await clock.advanceAsync(10_000);
    limiter.tryAcquire()?.release();
    expect(events).toEqual([
      { kind: 'circuitOpened', level: 'warn', at: 0, openMs: 500, failures: 2, reason: undefined },
      { kind: 'circuitHalfOpen', level: 'info', at: 500 },
      {
        kind: 'circuitOpened',
        level: 'warn',
        at: 10_000,
        openMs: 1000,
        failures: 3,
        reason: undefined,
      },
      { kind: 'circuitHalfOpen', level: 'info', at: 11_000 },
      { kind: 'circuitClosed', level: 'info', at: 20_000 },
    ]);
    expect(heard).toEqual([500, 10_000, 11_000, 20_000]);
  });

  it('emits once that a rate limit denies a request, and how long it waited', async () => {
    const { clock, limiter } = rig({ limits: { units: { limit: 5, windowMs: 1000 } } });
    const events = listen(limiter);
    await limiter.acquire({ costs: { units: 4 } });
    await clock.advanceAsync(300);
    fate(limiter.acquire({ costs: { units: 3 } }));
    await clock.runAllAsync();
    expect(events).toEqual([
      {
        kind: 'limitDenied',
        level: 'debug',
        at: 300,
        limit: 'units',
        cost: 3,
        available: 1,
        retryAfterMs: 700,
        waits: true,
      },
      {
        kind: 'waiting',
        level: 'debug',
        at: 300,
        gate: 'rateLimit',
        limit: 'units',
        position: 1,
        waiting: 1,
        untilAt: 1_000,
      },
      {
        kind: 'waited',
        level: 'debug',
        at: 1000,
        gate: 'rateLimit',
        limit: 'units',
        waitMs: 700,
        rounds: 1,
      },
    ]);
  });

  it('emits that a rate limit refuses a request', async () => {
    const { limiter } = rig({ limits: { units: { limit: 5, windowMs: 9 } }, onLimit: 'fail' });
    const events = listen(limiter);
    await limiter.acquire({ costs: { units: 5 } });
    await expect(limiter.acquire({ costs: { units: 1 } })).rejects.toThrow();
    expect(events).toMatchObject([{ kind: 'limitDenied', waits: false, available: 0, cost: 1 }]);
  });

  it('emits the waits one after another', async () => {
    const { clock, limiter } = rig({ concurrency: 1, maxBytes: 0, backoff: { reopen: 'all' } });
    const events = listen(limiter);
    const held = await limiter.acquire({ bytes: 5 });
    fate(limiter.acquire());
    await clock.advanceAsync(10);
    limiter.configure({ concurrency: 2 });
    await clock.advanceAsync(20);
    limiter.feedback.next({ kind: 'throttled', retryAfterMs: 40 });
    held.release();
    await clock.advanceAsync(100);
    expect(of(events, 'waited')).toEqual([
      { kind: 'waited', level: 'debug', at: 70, gate: 'concurrency', waitMs: 10, rounds: 1 },
      { kind: 'waited', level: 'debug', at: 70, gate: 'byteBudget', waitMs: 20, rounds: 1 },
      { kind: 'waited', level: 'debug', at: 70, gate: 'backoff', waitMs: 40, rounds: 1 },
    ]);
  });

  it('emits changes of the mode while there is a subscriber', async () => {
    const { clock, limiter } = rig({ backoff: { throttledForMs: 200 } });
    const events: LimiterEvent[] = [];
    const subscription = limiter.events$.subscribe((event) => events.push(event));
    (await limiter.acquire()).release('failed', tooMany(100));
    await clock.advanceAsync(1000);
    expect(events).toEqual([
      { kind: 'modeChanged', level: 'info', at: 0, mode: 'throttled' },
      { kind: 'modeChanged', level: 'info', at: 300, mode: 'normal' },
    ]);
    limiter.feedback.next({ kind: 'throttled', retryAfterMs: 100 });
    expect(clock.pendingTimers).toBe(1);
    subscription.unsubscribe();
    expect(clock.pendingTimers).toBe(0);
  });

  it('emits each milestone of a total, in order', async () => {
    const { limiter } = rig({ total: 4, milestonePercent: 25 });
    const events = listen(limiter);
    for (let count = 0; count < 5; count += 1) await limiter.run(() => count);
    expect(events).toEqual(
      [25, 50, 75, 100].map((percent) => ({ kind: 'milestone', level: 'info', at: 0, percent })),
    );
  });

  it('emits the changes of a limit by latency', async () => {
    const { clock, limiter } = rig({
      concurrency: 100,
      adaptive: { strategy: 'latency', initialLimit: 10, backoffRatio: 0.5 },
    });
    const events = listen(limiter);
    await clock.advanceAsync(5);
    (await limiter.acquire()).release('failed', new ApiError(503));
    expect(events).toMatchObject([
      { kind: 'limitAdapted', level: 'debug', at: 5, from: 10, to: 5 },
    ]);
    expect(limiter.snapshot().concurrency.limit).toBe(5);
  });

  it('emits `drained` once all requests have ended', async () => {
    const { clock, limiter } = rig();
    const events = listen(limiter);
    const lease = await limiter.acquire();
    await clock.advanceAsync(5);
    limiter.close();
    await clock.advanceAsync(5);
    lease.release();
    expect(timeline(events)).toEqual(['5 closed', '5 draining', '10 drained']);
  });
});
