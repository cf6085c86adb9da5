import { Subject } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { createLimiter } from '../../../../src/index.ts';
import {
  createProvider,
  type LimitOptions,
  logNormal,
  ManualClock,
  type ProviderOptions,
  seededRandom,
} from '../../../../src/simulator/index.ts';

const MINUTE_MS = 60_000;
const WAITING = 2_000;

const sliding = (unit: 'requests' | 'tokens', limit: number): LimitOptions => ({
  ...{ unit, limit, windowMs: MINUTE_MS, algorithm: 'sliding-window', charge: 'actual' },
});

/** Sends requests of these sizes without end. Counts those accepted in each minute from the third. */
async function acceptedPerMinute(
  provider: ProviderOptions,
  tokensOf: () => number,
  { minutes = 5, readsAnswers = true } = {},
) {
  const clock = new ManualClock();
  const server = createProvider({ clock, headers: 'openai', retryAfter: 'exact', ...provider });
  const limiter = createLimiter({ concurrency: 400, clock, random: seededRandom(7) });
  let accepted = 0;
  let rejected = 0;
  const send = async (tokens: number) => {
    try {
      const { headers } = await server.submitOrThrow({ inputTokens: tokens, maxTokens: 0 });
      accepted += 1;
      const usage = { input_tokens: tokens, output_tokens: 0 };
      return readsAnswers ? { headers, usage } : { usage };
    } catch (error) {
      rejected += 1;
      throw error;
    }
  };
  const requests = new Subject<number>();
  const estimate = (tokens: number) => ({ bytes: 1, tokens });
  requests.pipe(limiter.throttle(send, { outcomes: true, estimate })).subscribe();
  let pushed = 0;
  const run = async (ms: number) => {
    for (let left = ms; left > 0; left -= 2_000) {
      for (; pushed - accepted < WAITING; pushed += 1) requests.next(Math.round(tokensOf()));
      await clock.advanceAsync(2_000);
    }
  };
  await run(2 * MINUTE_MS);
  const before = { accepted, rejected };
  await run(minutes * MINUTE_MS);
  limiter.close();
  await clock.advanceAsync(0);
  return {
    accepted: (accepted - before.accepted) / minutes,
    rejected: (rejected - before.rejected) / minutes,
  };
}

describe('limits that headers tell', () => {
  it('are used if answers take longer than a report is valid', async () => {
    const provider = { latency: 18_000, rejectLatencyMs: 50, limits: [sliding('requests', 1_000)] };
    const { accepted, rejected } = await acceptedPerMinute(provider, () => 1);
    expect(accepted).toBeGreaterThan(980);
    expect(rejected).toBeLessThan(10);
  });

  const bucket = (unit: 'requests' | 'tokens', limit: number, burst = limit): LimitOptions => ({
    ...{ unit, limit, burst, windowMs: MINUTE_MS, algorithm: 'token-bucket', charge: 'actual' },
  });

  it.each([
    ['openai', 200, 2],
    ['openai', 1_000, 3],
    ['openai', 1_000, 8],
    ['anthropic', 500, 3],
    ['anthropic', 3_000, 5],
    ['anthropic', 3_000, 40],
  ] as const)(
    'are used if a bucket holds little of them: %s, %d, %d',
    async (headers, limit, burst) => {
      const limits = [bucket('requests', limit, burst)];
      const provider = { headers, latency: 1_400, rejectLatencyMs: 50, limits };
      const { accepted, rejected } = await acceptedPerMinute(provider, () => 1, { minutes: 8 });
      expect(accepted).toBeGreaterThan(0.8 * limit);
      expect(rejected).toBeLessThan(0.02 * limit);
    },
  );

  it.each([
    ['tokens', [bucket('requests', 2_000), bucket('tokens', 1_300_000)]],
    ['requests', [bucket('requests', 1_300)]],
  ])('do not slow requests down where only errors tell them: %s', async (_, limits) => {
    const provider = { latency: 2_000, rejectLatencyMs: 50, limits };
    const { accepted } = await acceptedPerMinute(provider, () => 1_000, { readsAnswers: false });
    expect(accepted).toBeGreaterThan(1_280);
  });

  it('cause no more rejections where only errors tell them', async () => {
    const limits = [sliding('requests', 1_000)];
    const provider = { latency: 2_000, rejectLatencyMs: 50, limits };
    const { accepted, rejected } = await acceptedPerMinute(provider, () => 1, {
      readsAnswers: false,
    });
    expect(accepted).toBeGreaterThan(900);
    expect(rejected).toBeLessThan(50);
  });

  it.each([1, 2, 3])('are used together by requests of different sizes: seed %d', async (seed) => {
    const mean = 1_000;
    const random = seededRandom(seed);
    const size = logNormal({ meanMs: mean, sigma: 1 });
    // The tokens are enough for a tenth more requests.
    const limits = [sliding('requests', 200), sliding('tokens', 220 * mean)];
    const provider = { latency: 1_000, rejectLatencyMs: 50, limits };
    const { accepted, rejected } = await acceptedPerMinute(provider, () => size(random), {
      minutes: 10,
    });
    expect(accepted).toBeGreaterThan(180);
    expect(rejected).toBeLessThan(3);
  });
});
