import { describe, expect, it } from 'vitest';
import { ManualClock } from '../../src/simulator/manual-clock.ts';
import { createProvider } from '../../src/simulator/provider.ts';
import type { ProviderOptions } from '../../src/simulator/provider-options.ts';

const SECONDS = 600;
const perMinute = { unit: 'requests', limit: 600, windowMs: 60_000 } as const;
const bucket = {
  unit: 'requests',
  algorithm: 'token-bucket',
  limit: 100,
  windowMs: 10_000,
} as const;
const wave = (nowMs: number) => 0.6 + 0.3 * Math.sin(nowMs / 30_000);

const scenarios: [string, ProviderOptions][] = [
  ['a token bucket of 10 s', { limits: [bucket] }],
  [
    'one-second windows behind misleading minute headers',
    {
      limits: [
        {
          ...perMinute,
          algorithm: 'fixed-window',
          limit: 10,
          windowMs: 1000,
          advertised: { limit: 600, windowMs: 60_000 },
        },
      ],
    },
  ],
  ['a fixed minute window', { limits: [{ ...perMinute, algorithm: 'fixed-window' }] }],
  ['a sliding minute window', { limits: [{ ...perMinute, algorithm: 'sliding-window' }] }],
  ['a server of 32 units', { concurrency: { units: 32, queue: 32 } }],
  [
    'half the capacity from 200 to 400 s',
    {
      limits: [bucket],
      capacity: [
        { atMs: 200_000, factor: 0.5 },
        { atMs: 400_000, factor: 1 },
      ],
    },
  ],
  ['other tenants', { limits: [bucket], capacity: wave }],
  [
    'three outages without Retry-After',
    {
      limits: [bucket],
      storms: [100, 300, 500].map((second) => ({
        fromMs: second * 1000,
        toMs: second * 1000 + 20_000,
      })),
    },
  ],
  ['slow rejections', { limits: [bucket], rejectLatencyMs: { meanMs: 2000, sigma: 0.3 } }],
];

/** Fifty clients that send again after half a second, whatever they are told. */
async function hammer(options: ProviderOptions) {
  const clock = new ManualClock();
  const provider = createProvider({ clock, latency: { meanMs: 3400, sigma: 0.5 }, ...options });
  const sleep = (ms: number) => new Promise<void>((resolve) => clock.setTimer(resolve, ms));
  const client = async (index: number) => {
    await sleep(10 * index);
    while (clock.now() < SECONDS * 1000) {
      const { kind } = await provider.submit({ inputTokens: 100, maxTokens: 50 });
      if (kind !== 'ok') await sleep(500);
    }
  };
  const clients = Array.from({ length: 50 }, (_, index) => client(index));
  await clock.advanceAsync(SECONDS * 1000);
  const stats = provider.stats();
  await clock.runAllAsync();
  await Promise.all(clients);
  return stats;
}

describe('scenarios', () => {
  it.each(scenarios)(
    '%s: greedy clients get what the limits allow and no more',
    async (_name, options) => {
      const { accepted, capacity, rejected } = await hammer(options);
      expect(capacity.requests).toBeGreaterThan(2900);
      // A bucket or a window is full at the start and after each outage.
      const starts = 1 + (options.storms?.length ?? 0);
      const burst = (options.limits?.[0]?.limit ?? 64) * starts;
      expect(accepted).toBeLessThanOrEqual(capacity.requests * 1.03 + burst);
      expect(accepted).toBeGreaterThan(capacity.requests * 0.9);
      if (options.limits !== undefined) expect(rejected).toBeGreaterThan(0);
    },
  );

  it('a sliding window that counts rejections starves whoever hammers it', async () => {
    const limits = [{ ...perMinute, algorithm: 'sliding-window' }] as const;
    const { accepted, capacity } = await hammer({ limits, countRejected: true });
    expect(accepted).toBeLessThan(capacity.requests * 0.8);
  });
});
