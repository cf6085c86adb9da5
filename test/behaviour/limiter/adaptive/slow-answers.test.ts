import { describe, expect, it } from 'vitest';
import { limit, type Rate, world } from '../../../limiter/adaptive/world.ts';

interface Setting {
  readonly algorithm: Rate;
  readonly count: number;
  readonly windowMs: number;
  readonly latency: number;
  /** Whether the limiter knows the limit from the start. */
  readonly isKnown: boolean;
}

/** The share of a limit that is used within ten times the latency, after the first answers. */
async function use({ algorithm, count, windowMs, latency, isKnown }: Setting): Promise<number> {
  const limits = [limit(algorithm, count, windowMs)];
  const provider = { headers: 'openai', latency, limits, rejectLatencyMs: 20 } as const;
  const known = isKnown ? { limits: { requests: { limit: count, windowMs } } } : {};
  const concurrency = Math.ceil((2 * count * latency) / windowMs + count);
  const w = world({ provider, options: { concurrency, ...known } });
  const windows = (10 * latency) / windowMs;
  w.push(Math.ceil(count * windows * 2));
  await w.advance(3 * latency);
  const [before = 0] = w.answered;
  await w.advance(10 * latency);
  const [after = 0] = w.answered;
  await w.end();
  return (after - before) / (count * windows);
}

describe('answers that take longer than the window of a limit', () => {
  it.each<Setting>([
    { algorithm: 'fixed-window', count: 106, windowMs: 1_000, latency: 1_120, isKnown: true },
    { algorithm: 'fixed-window', count: 45, windowMs: 1_000, latency: 2_300, isKnown: true },
    { algorithm: 'fixed-window', count: 60, windowMs: 5_000, latency: 12_000, isKnown: false },
    { algorithm: 'sliding-window', count: 51, windowMs: 10_000, latency: 30_000, isKnown: false },
    { algorithm: 'sliding-window', count: 56, windowMs: 5_000, latency: 20_000, isKnown: false },
  ])('leave little of it unused: $algorithm $count', async (setting) => {
    expect(await use(setting)).toBeGreaterThan(0.85);
  });
});
