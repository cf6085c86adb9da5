import { describe, expect, it } from 'vitest';
import { createLimiter, type LimiterOptions } from '../../../../src/index.ts';
import { ManualClock } from '../../../../src/simulator/index.ts';

const LIMIT = 10;
const WINDOW = 1_000;
/** Those of five windows, but for two that are charged and rejected. */
const REQUESTS = 48;

/**
 * A server whose windows begin when the first request arrives, with one that must open its connection
 * first, for 50 ms.
 */
async function sendAll(options: LimiterOptions) {
  const clock = new ManualClock();
  const limiter = createLimiter({ ...options, clock, random: () => 0.5 });
  const after = (ms: number) => new Promise<void>((resolve) => clock.setTimer(resolve, ms));
  let beganAt = Number.NEGATIVE_INFINITY;
  let used = 0;
  let rejected = 0;
  const call = async () => {
    await after(clock.now() === 0 ? 50 : 1);
    const now = clock.now();
    if (now >= beganAt + WINDOW) {
      beganAt = now;
      used = 0;
    }
    used += 1;
    if (used > LIMIT) {
      rejected += 1;
      throw Object.assign(new Error('too many requests'), { status: 429 });
    }
    await after(20);
  };
  let done = 0;
  for (let request = 0; request < REQUESTS; request += 1) {
    limiter.run(call).then(() => {
      done += 1;
    });
  }
  while (done < REQUESTS && clock.now() < 60_000) {
    for (let turn = 0; turn < 8; turn += 1) await Promise.resolve();
    clock.advance(1);
  }
  limiter.close();
  return { done, rejected, endedAt: clock.now() };
}

describe('windows of a server that begin later than ours', () => {
  const limits = (algorithm: 'fixed-window' | 'sliding-window') => ({
    limits: { requests: { limit: LIMIT, windowMs: WINDOW, algorithm } },
  });

  it.each(['fixed-window', 'sliding-window'] as const)(
    'cost a few single rejections, and then none: %s',
    async (algorithm) => {
      const { done, rejected, endedAt } = await sendAll(limits(algorithm));
      expect(done).toBe(REQUESTS);
      expect(rejected).toBeLessThanOrEqual(2);
      // Four windows, with the time that the first end was late, twice.
      expect(endedAt).toBeLessThan(4_000 + 150);
    },
  );

  it('meet all waiting requests at once if the rate does not adapt', async () => {
    const { done, rejected } = await sendAll({ ...limits('fixed-window'), adaptive: false });
    expect(done).toBe(REQUESTS);
    expect(rejected).toBeGreaterThanOrEqual(LIMIT);
  });
});
