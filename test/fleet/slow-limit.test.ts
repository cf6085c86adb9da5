import { expect, it } from 'vitest';
import { memoryStore } from '../../src/fleet/memory-store.ts';
import type { ExchangeRequest } from '../../src/fleet/protocol.ts';
import { createLimiter } from '../../src/index.ts';
import { createProvider, ManualClock, seededRandom } from '../../src/simulator/index.ts';

const WORKERS = 4;
const WINDOW_MS = 1_000_000;
const RUN_MS = 40 * WINDOW_MS;

// The store was called 320 times a second, since a plan for one request in a minute was used up. A
// grant that was reserved for in 14 hours, when the rate was low, held up everything.
it.each([20, 30, 50])('a limit of %i in 1,000 s is kept full with few calls', async (limit) => {
  const clock = new ManualClock(1_000);
  const provider = createProvider({
    clock,
    seed: 1,
    headers: 'anthropic',
    retryAfter: 'exact',
    latency: 150,
    limits: [{ unit: 'requests', algorithm: 'sliding-window', limit, windowMs: WINDOW_MS }],
  });
  let calls = 0;
  const store = memoryStore({ clock });
  const exchange = async (request: ExchangeRequest) => {
    calls += 1;
    await new Promise<void>((resolve) => clock.setTimer(resolve, 2));
    return store.exchange(request);
  };
  const limiters = Array.from({ length: WORKERS }, (_, worker) =>
    createLimiter({
      clock,
      shared: { ...store, exchange },
      concurrency: 2_000,
      random: seededRandom(worker),
      maxRetryAfterMs: 2 * WINDOW_MS,
    }),
  );
  const lane = async (limiter: (typeof limiters)[number]) => {
    for (;;) await limiter.run(() => provider.submitOrThrow({ inputTokens: 10, maxTokens: 10 }));
  };
  for (const limiter of limiters) {
    for (let each = 0; each < 300; each += 1) lane(limiter).catch(() => {});
  }
  await clock.advanceAsync(RUN_MS);
  const { completed, rejected } = provider.stats();
  for (const limiter of limiters) limiter.close();
  expect(completed / ((RUN_MS / WINDOW_MS) * limit)).toBeGreaterThan(0.85);
  expect(rejected).toBeLessThan(0.03 * completed);
  // Each worker keeps its lease with 0.8 calls a second.
  expect(calls / WORKERS / (RUN_MS / 1_000)).toBeLessThan(0.87);
});
