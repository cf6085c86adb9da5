import { expect, it } from 'vitest';
import { limit, SILENT, world } from '../../limiter/adaptive/world.ts';

/** 20 requests a second, of which the user knows nothing. */
const provider = { ...SILENT, limits: [limit('token-bucket', 20, 1_000)], latency: 1_000 };

// Before, all 400 were sent at once, and 380 were rejected.
it.each([
  ['from the start', 5, undefined],
  ['lowered before', undefined, 5],
])(
  'a raised concurrency, low %s, sends no more at once than the start does',
  async (_, at, low) => {
    const run = world({ provider, options: { concurrency: at ?? 400 } });
    const [limiter] = run.limiters;
    if (low !== undefined) limiter?.configure({ concurrency: low });
    run.push(1_000);
    await run.advance(3_000);
    const before = run.sent.length;
    limiter?.configure({ concurrency: 400 });
    await run.advance(0);
    expect(limiter?.snapshot().concurrency).toMatchObject({ limit: 16, inFlight: 16 });
    await run.advance(30_000);
    expect(run.provider.stats().rejected).toBeLessThan(40);
    expect(run.sent.length - before).toBeGreaterThan(0.95 * 20 * 30);
  },
);

it('a concurrency that was lowered and restored keeps what answers have shown', async () => {
  const run = world({ provider: { ...SILENT, latency: 1_000 } });
  const [limiter] = run.limiters;
  run.push(10_000);
  await run.advance(2_500);
  const { limit: earned } = limiter?.snapshot().concurrency ?? {};
  expect(earned).toBe(64);
  limiter?.configure({ concurrency: 3 });
  expect(limiter?.snapshot().concurrency.limit).toBe(3);
  limiter?.configure({ concurrency: 400 });
  expect(limiter?.snapshot().concurrency.limit).toBe(earned);
});

it('a raised concurrency is used at once where the limits are known', async () => {
  const options = { concurrency: 5, requestsPerMinute: 6_000 };
  const run = world({ provider: { ...SILENT, latency: 1_000 }, options });
  run.push(1_000);
  run.limiters[0]?.configure({ concurrency: 300 });
  await run.advance(0);
  expect(run.sent).toHaveLength(300);
});
