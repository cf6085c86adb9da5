import { describe, expect, it } from 'vitest';
import { limit, type Rate, world } from '../../../limiter/adaptive/world.ts';

interface Restart {
  readonly headers: 'openai' | 'anthropic';
  readonly algorithm?: Rate;
  /** Requests per minute. */
  readonly perMinute: number;
  readonly latency: number;
  readonly concurrency: number;
}

/** A process has used the limit up, and ends. The next one begins 20 s later, without a pause. */
async function restart({ headers, algorithm = 'fixed-window', perMinute, ...given }: Restart) {
  const { latency, concurrency } = given;
  const limits = [limit(algorithm, perMinute, 60_000)];
  const provider = { headers, latency, limits, retryAfter: 'exact', rejectLatencyMs: 50 } as const;
  const w = world({ provider, options: { concurrency }, workers: 2 });
  w.push(perMinute, [0]);
  await w.advance(20_000);
  expect(w.sent.length).toBe(perMinute);
  w.push(3 * perMinute, [1]);
  return w;
}

describe('a process that begins while the limit is used up', () => {
  it.each(['openai', 'anthropic'] as const)('uses whole windows, at once: %s', async (headers) => {
    const w = await restart({ headers, perMinute: 100, latency: 1_400, concurrency: 23 });
    await w.advance(55_000);
    expect(w.answered[1]).toBe(100);
    await w.advance(60_000);
    expect(w.answered[1]).toBe(200);
    // Only the first 16 requests, which found the limit used up.
    expect(w.sent.length).toBe(300 + 16);
    await w.end();
  });

  it.each([
    [20, 9_000, 31],
    [250, 9_000, 900],
  ])('sends no more than the limit before an answer comes: %d a minute', async (...given) => {
    const [perMinute, latency, concurrency] = given;
    const w = await restart({ headers: 'openai', perMinute, latency, concurrency });
    await w.advance(45_000);
    expect(w.sent.length).toBeLessThanOrEqual(2 * perMinute + 16);
    await w.advance(15_000);
    expect(w.answered[1]).toBe(perMinute);
    await w.end();
  });

  it('waits for no bucket to be full', async () => {
    const setting = { perMinute: 100, latency: 1_400, concurrency: 23 } as const;
    const w = await restart({ headers: 'anthropic', algorithm: 'token-bucket', ...setting });
    await w.advance(60_000);
    // It had gained a third in the first 20 s.
    expect(w.answered[1]).toBeGreaterThan(120);
    await w.end();
  });
});
