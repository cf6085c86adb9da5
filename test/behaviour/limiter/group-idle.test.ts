import { describe, expect, it } from 'vitest';
import { createLimiterGroup, type LimiterOptions } from '../../../src/index.ts';
import { ManualClock } from '../../../src/simulator/manual-clock.ts';
import type { Timer } from '../../../src/util/clock.ts';
import { groupRig } from '../../limiter/group-rig.ts';
import { ApiError, tooMany } from '../../request/harness.ts';
import { leastGrowth } from '../../support/memory.ts';

const IDLE_MS = 1_000;
/** So many keys come and go at a time. */
const ROUND = 1_000;

describe('a key without requests', () => {
  it('is dropped once it has been idle for `idleMs`, and not before', async () => {
    const { clock, group, run, end } = groupRig({ idleMs: IDLE_MS });
    run('a');
    run('b');
    end('b');
    await clock.advanceAsync(1_900);
    expect(group.keys).toContain('a');
    end('a');
    await clock.advanceAsync(999);
    expect(group.keys).toEqual(['a']);
    await clock.advanceAsync(2_000);
    expect(group.keys).toEqual([]);
    expect(clock.pendingTimers).toBe(0);
  });

  it('stays while it waits, runs, or holds a lease', async () => {
    const { clock, group, run } = groupRig({ idleMs: IDLE_MS, shared: { concurrency: 2 } });
    run('a');
    const lease = group.tryAcquire('b');
    run('c');
    await clock.advanceAsync(10 * IDLE_MS);
    expect(group.keys).toEqual(['a', 'b', 'c']);
    lease?.release();
    await clock.advanceAsync(3 * IDLE_MS);
    expect(group.keys).toEqual(['a', 'c']);
  });

  it('stays for a while after use, even by `tryAcquire` alone', async () => {
    const { clock, group } = groupRig({ idleMs: IDLE_MS });
    for (let n = 0; n < 10; n += 1) {
      group.tryAcquire('a')?.release();
      await clock.advanceAsync(IDLE_MS - 1);
      expect(group.keys).toEqual(['a']);
    }
  });

  it.each<[string, LimiterOptions, unknown, number]>([
    ['a rate limit', { limits: { requests: { limit: 1, windowMs: 20_000 } } }, undefined, 20_000],
    ['a pace', { pace: { intervalMs: 20_000, jitter: 0 } }, undefined, 20_000],
    ['a backoff', {}, tooMany(5_000), 15_000],
    ['a latency', { adaptive: 'latency' }, undefined, 60_000],
    ['a failure', { circuitBreaker: { consecutiveFailures: 2 } }, new ApiError(500), Infinity],
    [
      'an open circuit',
      { circuitBreaker: { consecutiveFailures: 1, openMs: 20_000 } },
      new ApiError(500),
      Infinity,
    ],
    [
      'a lowered limit',
      { adaptive: { strategy: 'failures', failureThreshold: 1 }, concurrency: 2 },
      new ApiError(500),
      60_000,
    ],
  ])('stays while it must remember %s', async (_what, each, error, untilMs) => {
    const { clock, group } = groupRig({ idleMs: IDLE_MS, each });
    const lease = await group.acquire('a');
    lease.release(error === undefined ? 'ok' : 'failed', error);
    const atMost = Math.min(untilMs, 1_000_000);
    await clock.advanceAsync(atMost - 1);
    expect(group.keys).toEqual(['a']);
    await clock.advanceAsync(60_000);
    expect(group.keys).toEqual(untilMs === Infinity ? ['a'] : []);
  });

  it('exceeds no limit when it is used again', async () => {
    const limits = { requests: { limit: 3, windowMs: 700 } };
    const { clock, group } = groupRig({ idleMs: 100, each: { limits } });
    const sent: number[] = [];
    let dropped = 0;
    for (let turn = 0; turn < 400; turn += 1) {
      const lease = turn % 40 < 20 ? group.tryAcquire('a') : undefined;
      if (lease !== undefined) sent.push(clock.now());
      lease?.release();
      await clock.advanceAsync((turn * 37) % 90);
      if (group.keys.length === 0) dropped += 1;
    }
    expect(dropped).toBeGreaterThan(0);
    for (const at of sent) {
      expect(sent.filter((time) => time > at - 700 && time <= at).length).toBeLessThanOrEqual(3);
    }
  });

  it('does not keep the process alive', () => {
    const alive: boolean[] = [];
    class Watched extends ManualClock {
      override setTimer(callback: () => void, delayMs: number, keepAlive = true): Timer {
        alive.push(keepAlive);
        return super.setTimer(callback, delayMs);
      }
    }
    const group = createLimiterGroup((key: string) => key, { clock: new Watched() });
    group.tryAcquire('a')?.release();
    expect(alive).toEqual([false]);
  });

  it('costs nothing once dropped: thousands come and go', async () => {
    const { clock, group } = groupRig({
      idleMs: IDLE_MS,
      each: { requestsPerMinute: 600, tokensPerMinute: 60_000 },
      shared: { concurrency: 100, requestsPerMinute: 1e9 },
    });
    const round = async (from: number) => {
      for (let n = from; n < from + ROUND; n += 1) {
        await group.run(`k${n}`, () => n, { tokens: 5 });
      }
      await clock.advanceAsync(70_000);
      expect(group.keys).toEqual([]);
    };
    await round(0);
    await round(ROUND);
    let from = 2 * ROUND;
    const growth = await leastGrowth(500_000, async () => {
      for (let n = 0; n < 2; n += 1, from += ROUND) await round(from);
    });
    expect(growth).toBeLessThan(500_000);
  });
});
