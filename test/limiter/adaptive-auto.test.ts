import { range } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { createLimiter, createLimiterGroup, throttle } from '../../src/index.ts';
import { createProvider, ManualClock, seededRandom } from '../../src/simulator/index.ts';
import { ApiError, failingWith, tooMany, watch } from '../dispatch/harness.ts';
import { expectIdle, fate } from './harness.ts';

describe('without options, one request alone', () => {
  it.each([
    ['429s that name no wait', tooMany()],
    ['503s', new ApiError(503)],
    ['529s', new ApiError(529)],
  ])('is not sent twice in a turn after %s, nor kept for long', async (_, error) => {
    const clock = new ManualClock();
    const { calls, project } = failingWith(Array(6).fill(error), () => clock.now());
    const seen = watch(range(0, 1).pipe(throttle(project, { clock, random: () => 0.5 })));
    await clock.runAllAsync();
    expect(seen.values).toEqual(['done']);
    const waits = calls.slice(1).map((at, index) => at - (calls[index] ?? 0));
    expect(Math.min(...waits)).toBeGreaterThanOrEqual(100);
    // The longest time between two probes of an outage.
    expect(Math.max(...waits)).toBeLessThanOrEqual(8_000);
    expect(clock.pendingTimers).toBe(0);
  });
});

describe('without options, a server that can do little at once', () => {
  it('is not asked again by all whom it has turned away', async () => {
    const clock = new ManualClock();
    const provider = createProvider({
      clock,
      concurrency: { units: 32, queue: 32 },
      latency: { meanMs: 1000, sigma: 0.3 },
    });
    const limiter = createLimiter({ clock, random: seededRandom(5) });
    const send = async () => {
      await provider.submitOrThrow({ inputTokens: 10, maxTokens: 10 });
    };
    const seen = watch(range(0, 2000).pipe(limiter.throttle(send)));
    await clock.runAllAsync();
    expect(seen.state).toBe('complete');
    // 336 of the first 400 have no place; later ones are tries of more.
    expect(provider.stats().rejected).toBeLessThan(500);
    // 32 at once, a second each.
    expect(clock.now()).toBeLessThan((2000 / 32) * 1000 * 1.2);
    expectIdle(limiter);
  });
});

describe('without options, a group', () => {
  it('drops keys that slept, and keeps for a minute what one has learned', async () => {
    const clock = new ManualClock();
    const group = createLimiterGroup((key: string) => key, { clock, idleMs: 1_000 });
    const errors = [tooMany(20)];
    fate(group.run('asleep', () => 1));
    fate(
      group.run('taught', () => {
        const error = errors.shift();
        if (error !== undefined) throw error;
      }),
    );
    await clock.advanceAsync(5_000);
    expect(group.keys).toEqual(['taught']);
    await clock.advanceAsync(60_000);
    expect(group.keys).toEqual([]);
    expect(clock.pendingTimers).toBe(0);
  });
});
