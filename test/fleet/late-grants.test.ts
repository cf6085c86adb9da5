import { expect, it } from 'vitest';
import { memoryStore } from '../../src/fleet/memory-store.ts';
import { createLimiter } from '../../src/index.ts';
import {
  createProvider,
  ManualClock,
  type ProviderOptions,
  seededRandom,
} from '../../src/simulator/index.ts';

const MINUTE_MS = 60_000;

interface World {
  readonly limit: number;
  readonly headers: NonNullable<ProviderOptions['headers']>;
  readonly latency: number;
  readonly workers: number;
  readonly concurrency: number;
}

/** Workers that know the limit of the API, adapt to it, and always have more to send. */
async function sendFor(ms: number, world: World) {
  const { limit, headers, latency, workers, concurrency } = world;
  const clock = new ManualClock(1_000);
  const rule = { algorithm: 'sliding-window' as const, limit, windowMs: MINUTE_MS };
  const limits = [{ unit: 'requests' as const, ...rule }];
  const retryAfter = 'exact';
  const provider = createProvider({ clock, seed: 1, headers, retryAfter, latency, limits });
  const shared = memoryStore({ clock });
  const limiters = Array.from({ length: workers }, (_, seed) =>
    createLimiter({
      clock,
      shared,
      concurrency,
      random: seededRandom(seed),
      limits: { requests: rule },
    }),
  );
  const lane = async (limiter: (typeof limiters)[number]) => {
    for (;;) await limiter.run(() => provider.submitOrThrow({ inputTokens: 10, maxTokens: 10 }));
  };
  for (const limiter of limiters) {
    for (let each = 0; each < 40; each += 1) lane(limiter).catch(() => {});
  }
  await clock.advanceAsync(ms);
  for (const limiter of limiters) limiter.close();
  return provider.stats();
}

it.each<World>([
  {
    limit: 9,
    headers: 'anthropic',
    latency: 3_800,
    workers: 3,
    concurrency: 42,
  },
  {
    limit: 15,
    headers: 'anthropic',
    latency: 16_600,
    workers: 3,
    concurrency: 200,
  },
])('a fleet that adapts exceeds no known limit of $limit requests a minute', async (world) => {
  const stats = await sendFor(10 * MINUTE_MS, world);
  expect(stats.rejected).toBe(0);
});
