import { range } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { createLimiter, throttle } from '../../src/index.ts';
import { createProvider, ManualClock, seededRandom } from '../../src/simulator/index.ts';
import { expectIdle } from '../limiter/harness.ts';
import { watch } from '../request/harness.ts';

const REQUEST = { inputTokens: 100, maxTokens: 20 };

describe('5,000 requests', () => {
  it('all succeed, once each, at a rate that nobody told', async () => {
    const clock = new ManualClock();
    const limits = [
      { unit: 'requests', algorithm: 'token-bucket', limit: 200, windowMs: 1000 },
    ] as const;
    const provider = createProvider({ clock, limits, latency: { meanMs: 300, sigma: 0.5 } });
    const limiter = createLimiter({ clock });
    const answered = new Map<number, number>();
    const send = async (index: number, { attempt }: { attempt: number }) => {
      await provider.submitOrThrow(REQUEST);
      answered.set(index, attempt);
      return index;
    };
    const seen = watch(range(0, 5000).pipe(limiter.throttle(send)));
    expect(provider.stats()).toMatchObject({ accepted: 16, rejected: 0 });
    await clock.runAllAsync();
    expect(seen.state).toBe('complete');
    expect(seen.values.length).toBe(5000);
    expect(new Set(seen.values).size).toBe(5000);
    const { submitted, accepted, completed, rejected, inFlight } = provider.stats();
    // 25 s at 200 a second, less what the bucket has saved.
    expect(clock.now()).toBeLessThan(27_000);
    expect(rejected).toBeLessThan(100);
    expect({ accepted, completed, inFlight }).toEqual({
      accepted: 5000,
      completed: 5000,
      inFlight: 0,
    });
    expect(submitted).toBe(5000 + rejected);
    expect([...answered.values()].some((attempt) => attempt > 1)).toBe(true);
    expectIdle(limiter);
    expect(clock.pendingTimers).toBe(0);
  });

  it.each([
    ['by the fixed rules', false, 100, 1000],
    ['at a rate that adapts', 'rate', 2, 60],
  ] as const)(
    'all end through two outages and on a flaky network, in order, %s',
    async (_, adaptive, least, most) => {
      const clock = new ManualClock();
      const provider = createProvider({
        clock,
        latency: { meanMs: 200, sigma: 0.5 },
        storms: [
          { fromMs: 500, toMs: 4000, status: 429 },
          { fromMs: 9000, toMs: 15_000, status: 503 },
        ],
        failures: [{ fault: 'reset', probability: 0.01 }],
      });
      const send = async (index: number) => {
        await provider.submitOrThrow(REQUEST);
        return index;
      };
      const random = seededRandom(3);
      const options = { clock, random, adaptive, concurrency: 100 } as const;
      const seen = watch(
        range(0, 5000).pipe(throttle(send, { ...options, ordered: true, outcomes: true })),
      );
      await clock.runAllAsync();
      expect(seen.values.map(({ request }) => request)).toEqual([...Array(5000).keys()]);
      const failed = seen.values.filter(({ status }) => status === 'failed');
      for (const outcome of failed) {
        expect(outcome).toMatchObject({ error: { code: 'ECONNRESET' } });
        expect(outcome.stats.attempts).toBeGreaterThanOrEqual(3);
      }
      expect(failed.length).toBeLessThan(20);
      expect(provider.stats().completed).toBe(5000 - failed.length);
      const { storm = 0 } = provider.stats().rejectedBy;
      expect(storm).toBeGreaterThan(least);
      expect(storm).toBeLessThan(most);
      expect(clock.pendingTimers).toBe(0);
    },
    30_000,
  );
});
