import { range } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { createLimiter, createLimiterGroup, throttle } from '../../../src/index.ts';
import {
  createProvider,
  type Latency,
  ManualClock,
  seededRandom,
} from '../../../src/simulator/index.ts';
import { expectIdle, fate } from '../../limiter/harness.ts';
import { ApiError, failingWith, tooMany, watch } from '../../request/harness.ts';

describe('without options, one request alone', () => {
  it.each([
    ['429s that name no wait', tooMany()],
    ['503s', new ApiError(503)],
    ['529s', new ApiError(529)],
  ])('is not sent twice in a turn after %s, and does not wait for long', async (_, error) => {
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

describe('without options, a server with few units', () => {
  it('is not called again by all rejected requests at once', async () => {
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

describe('without options, a server with a small cap and bare 429s', () => {
  const capped = (units: number, latency: Latency, rejectLatencyMs: Latency) => {
    const clock = new ManualClock();
    const concurrency = { units, queue: 0, status: 429 } as const;
    const provider = createProvider({
      clock,
      concurrency,
      latency,
      rejectLatencyMs,
      headers: 'none',
    });
    const limiter = createLimiter({ clock, random: seededRandom(5) });
    const send = () => provider.submitOrThrow({ inputTokens: 10, maxTokens: 10 });
    const subscription = range(0, 100_000).pipe(limiter.throttle(send)).subscribe();
    const after = async (ms: number) => {
      await clock.advanceAsync(ms);
      subscription.unsubscribe();
      return provider.stats();
    };
    return { after };
  };

  it('does not get a burst after each 429, with one request at a time of a minute each', async () => {
    const { completed, rejected } = await capped(1, 60_000, 50).after(900_000);
    expect(completed).toBeGreaterThanOrEqual(8);
    expect(rejected).toBeLessThan(450);
  });

  it('is used up, though rejections come later than answers', async () => {
    const late = (random: () => number) => 50 + 2_950 * random();
    const { completed, rejected } = await capped(64, { meanMs: 1_000, sigma: 0.3 }, late).after(
      120_000,
    );
    expect(completed).toBeGreaterThan(0.4 * 64 * 120);
    expect(rejected).toBeLessThan(2_000);
  });
});

describe('without options, requests that are each rejected in the turn in which they are sent', () => {
  it('do not spin while the clock stands still', async () => {
    const clock = new ManualClock();
    const limiter = createLimiter({ clock, random: () => 0.5 });
    const rejections: (() => void)[] = [];
    let calls = 0;
    const send = () => {
      calls += 1;
      if (calls > 1_000) return 'spins';
      if (calls > 3) return Promise.reject(tooMany());
      return new Promise((_, reject) => rejections.push(() => reject(tooMany())));
    };
    for (let n = 0; n < 3; n += 1) fate(limiter.run(send));
    for (const reject of rejections.reverse()) reject();
    await clock.advanceAsync(20_000);
    expect(calls).toBeLessThan(15);
  });
});

describe('without options, a group', () => {
  it('drops idle keys, and keeps a key’s learned rate for a minute', async () => {
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
