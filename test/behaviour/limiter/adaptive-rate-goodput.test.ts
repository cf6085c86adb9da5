import { from } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { type ThrottleOptions, throttle } from '../../../src/index.ts';
import {
  createProvider,
  ManualClock,
  type ModelRequest,
  type ProviderOptions,
  type ProviderStats,
  seededRandom,
} from '../../../src/simulator/index.ts';

const REQUEST = { inputTokens: 10, maxTokens: 10 };
const LATENCY = { meanMs: 3_400, sigma: 0.5 };
const SECONDS = 300;

const limit = (
  algorithm: 'token-bucket' | 'fixed-window' | 'sliding-window',
  count: number,
  windowMs: number,
) => ({ unit: 'requests', algorithm, limit: count, windowMs }) as const;

/** A backlog that does not end, sent for a while to a provider. */
async function sendAll(
  provided: ProviderOptions,
  options: Partial<ThrottleOptions<number>> = {},
  request: (n: number) => ModelRequest = () => REQUEST,
): Promise<ProviderStats> {
  const clock = new ManualClock();
  const provider = createProvider({ clock, latency: LATENCY, ...provided });
  const send = (n: number) => provider.submitOrThrow(request(n));
  const subscription = from(Array.from({ length: 100_000 }, (_, n) => n))
    .pipe(throttle(send, { clock, concurrency: 100, ...options }))
    .subscribe();
  await clock.advanceAsync(SECONDS * 1_000);
  const stats = provider.stats();
  subscription.unsubscribe();
  await clock.advanceAsync(0);
  return stats;
}

const sum = (counts: readonly number[]) => counts.reduce((all, count) => all + count, 0);

/** After a minute: what was let in a second, and rejections for each 1000 of these. */
function figures({ series: { accepted, rejected } }: ProviderStats) {
  const later = sum(accepted.slice(60, SECONDS));
  const turnedAway = sum(rejected.slice(60, SECONDS));
  return { perSecond: later / (SECONDS - 60), perMille: (1_000 * turnedAway) / later };
}

describe('a provider of 10 a second is kept full, with few 429s, by default:', () => {
  const told = { headers: 'openai' } as const;
  const waits = { headers: 'retry-after' } as const;
  const silent = { headers: 'none', retryAfter: 'none' } as const;
  const bucket = limit('token-bucket', 100, 10_000);
  const fixed = limit('fixed-window', 600, 60_000);
  const second = limit('fixed-window', 10, 1_000);
  const sliding = limit('sliding-window', 600, 60_000);
  it.each<[string, ProviderOptions, number, number]>([
    ['a token bucket that tells of itself', { limits: [bucket], ...told }, 9.8, 1],
    ['a token bucket', { limits: [bucket], ...waits }, 9.9, 5],
    ['a token bucket that says nothing', { limits: [bucket], ...silent }, 9.9, 5],
    ['a fixed window that tells of itself', { limits: [fixed], ...told }, 9.8, 1],
    ['a fixed window', { limits: [fixed], ...waits }, 9.9, 4],
    ['a fixed window that says nothing', { limits: [fixed], ...silent }, 9, 15],
    ['windows of a second', { limits: [second], ...waits }, 9.8, 5],
    ['windows of a second that say nothing', { limits: [second], ...silent }, 9.8, 5],
    ['a sliding window that tells of itself', { limits: [sliding], ...told }, 9.8, 3],
    ['a sliding window', { limits: [sliding], ...waits }, 9.1, 15],
    ['a sliding window that says nothing', { limits: [sliding], ...silent }, 9.3, 15],
  ])('%s', async (_what, provided, perSecond, perMille) => {
    const found = figures(await sendAll(provided));
    expect(found.perSecond).toBeGreaterThan(perSecond);
    expect(found.perMille).toBeLessThan(perMille);
  });

  it.each([
    ['that tells of itself', told],
    ['', waits],
  ])('a limit on tokens %s', async (_what, provided) => {
    const stats = await sendAll(
      {
        limits: [
          {
            unit: 'tokens',
            algorithm: 'token-bucket',
            limit: 60_000,
            windowMs: 60_000,
            burst: 10_000,
          },
        ],
        ...provided,
      },
      { estimate: () => ({ bytes: 0, tokens: 100 }) },
      (n) => ({ inputTokens: 50 + (n % 7) * 10, maxTokens: 20 }),
    );
    expect(figures(stats).perSecond).toBeGreaterThan(9.6);
    expect(figures(stats).perMille).toBeLessThan(10);
  });

  it.each([2, 3, 4])('a bucket of which others use a changing part, seed %i', async (seed) => {
    const random = seededRandom(seed);
    const parts = Array.from({ length: 12 }, () => 0.3 + 0.6 * random());
    const capacity = (now: number) => {
      const at = now / 30_000;
      const [from = 0.5, to = from] = parts.slice(Math.floor(at));
      return from + (to - from) * (at % 1);
    };
    const shared = { ...limit('token-bucket', 600, 60_000), burst: 100 };
    const { accepted, rejected } = await sendAll({ limits: [shared], capacity, seed, ...told });
    const meanPart = sum(parts.slice(0, 10)) / 10;
    expect(accepted).toBeGreaterThan(0.95 * meanPart * 10 * SECONDS);
    expect(rejected).toBeLessThan(3);
  });

  it('a server with three outages that names no wait', async () => {
    const storms = [60_000, 130_000, 200_000].map((fromMs) => ({
      fromMs,
      toMs: fromMs + 20_000,
    }));
    const stats = await sendAll({ limits: [bucket], storms, ...waits });
    // 180 s of 240 are left, and what a bucket saves.
    expect(figures(stats).perSecond * 240).toBeGreaterThan(0.85 * 180 * 10);
    expect(stats.rejectedBy.storm).toBeLessThan(60);
  });
});

it('a slow limit that rejects like an overload, with 503 alone, gets few requests too many', async () => {
  const clock = new ManualClock();
  const perMs = 0.55 / 1_000;
  let saved = 5;
  let savedAt = 0;
  let accepted = 0;
  let rejected = 0;
  const after = (ms: number) => new Promise<void>((resolve) => clock.setTimer(resolve, ms));
  const send = async (n: number) => {
    saved = Math.min(5, saved + (clock.now() - savedAt) * perMs);
    savedAt = clock.now();
    const isAccepted = saved >= 1;
    if (isAccepted) saved -= 1;
    await after(isAccepted ? 276 : 29);
    if (!isAccepted) {
      rejected += 1;
      throw Object.assign(new Error('busy'), { status: 503 });
    }
    accepted += 1;
    return n;
  };
  const subscription = from(Array.from({ length: 10_000 }, (_, n) => n))
    .pipe(throttle(send, { clock, concurrency: 8, maxAttempts: 100_000 }))
    .subscribe();
  await clock.advanceAsync(3_600_000);
  subscription.unsubscribe();
  await clock.advanceAsync(0);
  expect(accepted).toBeGreaterThan(0.95 * 3_600_000 * perMs);
  expect(rejected).toBeLessThan(0.2 * accepted);
});
