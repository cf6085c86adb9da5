import { describe, expect, it } from 'vitest';
import { createLimiter } from '../../../src/index.ts';
import { expectIdle, fate } from '../../limiter/harness.ts';
import { failing, listen, rig, script } from '../../limiter/rig.ts';
import { ApiError } from '../../request/harness.ts';

const broken = new ApiError(500);

/** The edge cases that seed 004 lists. */
describe('a limiter', () => {
  it('with a total of zero', async () => {
    const { limiter } = rig({ total: 0 });
    const events = listen(limiter);
    await limiter.run(() => 1);
    const { percentage, etaMs, remaining } = limiter.snapshot().progress;
    expect({ percentage, etaMs, remaining }).toEqual({ percentage: 100, etaMs: 0, remaining: 0 });
    expect(events.every(({ kind }) => kind === 'milestone')).toBe(true);
  });

  it('with a single slot', async () => {
    const { clock, limiter } = rig({ concurrency: 1 });
    const { started, run, end } = script(limiter);
    const told = ['a', 'b', 'c'].map((name) => run(name));
    for (const name of ['a', 'b', 'c']) {
      expect(started.at(-1)).toBe(name);
      expect(limiter.snapshot().concurrency.inFlight).toBe(1);
      end(name);
      await clock.advanceAsync(0);
    }
    expect(told.map(({ value }) => value)).toEqual(['a', 'b', 'c']);
    expectIdle(limiter);
  });

  it('whose first request fails', async () => {
    const { clock, limiter } = rig({
      concurrency: 4,
      total: 2,
      maxAttempts: 1,
      circuitBreaker: { consecutiveFailures: 1, openMs: 100 },
      adaptive: { strategy: 'failures', failureThreshold: 1 },
      pace: { intervalMs: 10, jitter: 0 },
    });
    await expect(limiter.run(() => Promise.reject(broken))).rejects.toBe(broken);
    expect(limiter.snapshot()).toMatchObject({
      state: 'circuitOpen',
      concurrency: { limit: 2, inFlight: 0 },
      intervalMs: 20,
      progress: { failed: 1, percentage: 50 },
    });
    await clock.advanceAsync(100);
    expect(await limiter.run(() => 'next')).toBe('next');
    expect(limiter.snapshot()).toMatchObject({ state: 'cooling', progress: { percentage: 100 } });
  });

  it('whose `isFailure` returns false for every error', async () => {
    const seen: string[] = [];
    const { limiter } = rig({
      concurrency: 4,
      circuitBreaker: { consecutiveFailures: 2 },
      adaptive: { strategy: 'failures', failureThreshold: 2 },
      isFailure: ({ kind }) => {
        seen.push(kind);
        return false;
      },
    });
    const events = listen(limiter);
    await failing(limiter, 20, broken);
    for (let count = 0; count < 20; count += 1) limiter.recordFailure(broken);
    expect(limiter.snapshot()).toMatchObject({
      state: 'running',
      failures: 0,
      concurrency: { limit: 4 },
      circuitBreaker: { failures: 0 },
      ended: { failed: 40 },
    });
    expect(events).toEqual([]);
    expect(new Set(seen)).toEqual(new Set(['failed']));
  });

  it('whose `isFailure` throws uses the default', async () => {
    const { limiter } = rig({
      circuitBreaker: { consecutiveFailures: 2 },
      isFailure: () => {
        throw new Error('of the predicate');
      },
    });
    await failing(limiter, 2, broken);
    expect(limiter.snapshot().state).toBe('circuitOpen');
  });

  it('whose circuit opens for no time lets one probe through at a time', async () => {
    const { clock, limiter } = rig({ circuitBreaker: { consecutiveFailures: 1, openMs: 0 } });
    const events = listen(limiter);
    await failing(limiter, 1, broken);
    const probe = limiter.tryAcquire();
    expect(probe).toBeDefined();
    await expect(limiter.acquire()).rejects.toMatchObject({ code: 'CIRCUIT_OPEN' });
    probe?.release('failed', broken);
    await failing(limiter, 1, broken);
    limiter.tryAcquire()?.release('ok');
    await clock.advanceAsync(0);
    expect(events.map(({ kind }) => kind)).toEqual([
      'circuitOpened',
      'circuitHalfOpen',
      'circuitOpened',
      'circuitHalfOpen',
      'circuitOpened',
      'circuitHalfOpen',
      'circuitClosed',
    ]);
    expect(limiter.snapshot().state).toBe('running');
    expect(clock.pendingTimers).toBe(0);
  });

  it('with a single slot that decelerates keeps the slot, and slows down', async () => {
    const { clock, limiter } = rig({
      concurrency: 1,
      pace: { intervalMs: 100, jitter: 0, maxIntervalMs: 300 },
      adaptive: { strategy: 'failures', failureThreshold: 1, coolingMs: 1000 },
    });
    const limits: [number, number][] = [];
    for (let count = 0; count < 3; count += 1) {
      await clock.advanceAsync(300);
      await failing(limiter, 1, broken);
      const { concurrency, intervalMs } = limiter.snapshot();
      limits.push([concurrency.limit, intervalMs]);
    }
    expect(limits).toEqual([
      [1, 200],
      [1, 300],
      [1, 300],
    ]);
    await clock.runAllAsync();
    expect(limiter.snapshot()).toMatchObject({
      state: 'running',
      intervalMs: 100,
      concurrency: { limit: 1 },
    });
  });

  it('with a budget of one token', async () => {
    const { clock, limiter } = rig({ limits: { tokens: { limit: 1, windowMs: 100 } } });
    const at: number[] = [];
    const told = [1, 1, 0, 1].map((tokens) =>
      fate(limiter.run(() => void at.push(clock.now()), { tokens })),
    );
    const large = fate(limiter.run(() => 1, { tokens: 2 }));
    await clock.runAllAsync();
    expect(at).toEqual([0, 100, 100, 200]);
    expect(told.every(({ state }) => state === 'ok')).toBe(true);
    expect(large.error).toMatchObject({ code: 'COST_ABOVE_LIMIT', limit: 'tokens' });
  });

  it('that is drained and asked for a lease in the same turn', async () => {
    const { clock, limiter } = rig({ concurrency: 1 });
    const held = await limiter.acquire();
    const waiting = fate(limiter.acquire());
    limiter.close();
    const drained = fate(limiter.drain());
    const late = fate(limiter.acquire());
    held.release();
    await clock.advanceAsync(0);
    expect(late.error).toMatchObject({ code: 'LIMITER_CLOSED' });
    expect([waiting.state, drained.state]).toEqual(['ok', 'open']);
    waiting.value?.release();
    await clock.advanceAsync(0);
    expect(drained.state).toBe('ok');
  });

  it('shares no state with another', async () => {
    const { limiter } = rig({ circuitBreaker: { consecutiveFailures: 1 }, total: 4 });
    const other = createLimiter({ circuitBreaker: { consecutiveFailures: 1 }, total: 4 });
    await failing(limiter, 1, broken);
    limiter.close();
    expect(other.snapshot()).toMatchObject({ state: 'running', progress: { failed: 0 } });
  });
});
