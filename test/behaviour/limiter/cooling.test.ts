import { describe, expect, it } from 'vitest';
import { expectIdle, fate } from '../../limiter/harness.ts';
import { failing, listen, rig, script, timeline } from '../../limiter/rig.ts';
import { ApiError, tooMany } from '../../request/harness.ts';

const broken = new ApiError(500);
const slow = { pace: { intervalMs: 200, jitter: 0 } };

describe("a limiter with adaptive: 'failures'", () => {
  it('decelerates at the third failure within a minute: half the slots, twice the interval', async () => {
    const { clock, limiter } = rig({ concurrency: 5, adaptive: 'failures', ...slow });
    const look = () => {
      const { concurrency, intervalMs, failures, safeCeiling, state } = limiter.snapshot();
      return [concurrency.limit, intervalMs, failures, safeCeiling, state];
    };
    for (const at of [0, 30_000]) {
      await clock.advanceAsync(at - clock.now());
      await failing(limiter, 1, broken);
    }
    expect(look()).toEqual([5, 200, 2, 5, 'running']);
    // The first is forgotten after a minute.
    await clock.advanceAsync(30_000);
    await failing(limiter, 1, broken);
    expect(look()).toEqual([5, 200, 2, 5, 'running']);
    await clock.advanceAsync(29_999);
    await failing(limiter, 1, broken);
    expect(look()).toEqual([2, 400, 0, 5, 'cooling']);
  });

  it('steps back up each minute, to the ceiling, and after five without failure to the top', async () => {
    const { clock, limiter } = rig({ concurrency: 8, adaptive: 'failures' });
    const events = listen(limiter);
    for (let count = 0; count < 6; count += 1) limiter.recordFailure(broken);
    expect(limiter.snapshot()).toMatchObject({ concurrency: { limit: 2 }, safeCeiling: 4 });
    events.length = 0;
    await clock.runAllAsync();
    expect(timeline(events)).toEqual([
      '60000 reaccelerated',
      '120000 reaccelerated',
      '300000 ceilingReset',
      '360000 reaccelerated',
      '420000 reaccelerated',
      '480000 reaccelerated',
      '540000 reaccelerated',
    ]);
    expect(limiter.snapshot()).toMatchObject({
      concurrency: { limit: 8 },
      safeCeiling: 8,
      state: 'running',
    });
    expect(clock.pendingTimers).toBe(0);
  });

  it('lets requests in flight finish, and admits waiters as it steps up', async () => {
    const { clock, limiter } = rig({ concurrency: 4, adaptive: 'failures' });
    const { started, run, end } = script(limiter);
    for (const name of ['a', 'b', 'c', 'd', 'e', 'f', 'g']) run(name);
    for (let count = 0; count < 3; count += 1) limiter.recordFailure(broken);
    expect(limiter.snapshot().concurrency).toMatchObject({ limit: 2, inFlight: 4, waiting: 3 });
    for (const name of ['a', 'b']) end(name);
    await clock.advanceAsync(0);
    expect(started).toHaveLength(4);
    await clock.advanceAsync(60_000);
    expect(started).toEqual(['a', 'b', 'c', 'd', 'e']);
    await clock.advanceAsync(60_000);
    expect(started).toEqual(['a', 'b', 'c', 'd', 'e', 'f']);
  });

  it('paces dispatches by the doubled interval, including the running pause', async () => {
    const { clock, limiter } = rig({ concurrency: 5, adaptive: 'failures', ...slow });
    const at: number[] = [];
    for (let count = 0; count < 4; count += 1) {
      fate(limiter.run(() => void at.push(clock.now())));
    }
    await clock.advanceAsync(100);
    for (let count = 0; count < 3; count += 1) limiter.recordFailure(broken);
    await clock.advanceAsync(10_000);
    expect(at).toEqual([0, 400, 800, 1200]);
  });

  it('counts 429s, 5xx and broken connections, not bad requests and cancellations', async () => {
    const counted = async (error: unknown, end: 'failed' | 'cancelled' = 'failed') => {
      const { limiter } = rig({ concurrency: 9, adaptive: 'failures' });
      const leases = await Promise.all([limiter.acquire(), limiter.acquire()]);
      for (const lease of leases) lease.release(end, error);
      return limiter.snapshot().failures;
    };
    expect(await counted(tooMany())).toBe(2);
    expect(await counted(broken)).toBe(2);
    expect(await counted(new ApiError(503))).toBe(2);
    expect(await counted(Object.assign(new Error('no'), { code: 'ECONNRESET' }))).toBe(2);
    expect(await counted(new ApiError(400))).toBe(0);
    expect(await counted(new ApiError(404))).toBe(0);
    expect(await counted(broken, 'cancelled')).toBe(0);
  });

  it('counts late failures of one outage as one', async () => {
    const { limiter } = rig({ concurrency: 16, adaptive: 'failures' });
    const leases = await Promise.all(Array.from({ length: 16 }, () => limiter.acquire()));
    for (const lease of leases) lease.release('failed', broken);
    expect(limiter.snapshot()).toMatchObject({ concurrency: { limit: 8 }, failures: 0 });
  });

  it('starts at `initialLimit`, and grows from there', async () => {
    const { clock, limiter } = rig({
      concurrency: 6,
      adaptive: { strategy: 'failures', initialLimit: 2, coolingMs: 1000 },
    });
    expect(limiter.snapshot()).toMatchObject({
      concurrency: { limit: 2 },
      maxConcurrency: 6,
      safeCeiling: 6,
      state: 'running',
    });
    await clock.advanceAsync(3000);
    expect(limiter.snapshot().concurrency.limit).toBe(5);
    await clock.runAllAsync();
    expect(limiter.snapshot().concurrency.limit).toBe(6);
  });

  it('passes every error on, and counts each attempt', async () => {
    const { clock, limiter } = rig({ concurrency: 4, adaptive: 'failures' });
    const ran = fate(limiter.run(() => Promise.reject(broken)));
    await clock.advanceAsync(59_000);
    expect(ran.error).toBe(broken);
    expect(limiter.snapshot()).toMatchObject({
      concurrency: { limit: 2 },
      ended: { failed: 1 },
      state: 'cooling',
    });
    expectIdle(limiter);
  });
});
