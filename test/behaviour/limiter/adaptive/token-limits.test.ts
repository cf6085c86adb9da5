import { from } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { createLimiter } from '../../../../src/index.ts';
import {
  createProvider,
  ManualClock,
  type ProviderOptions,
  seededRandom,
} from '../../../../src/simulator/index.ts';
import type { Rate } from '../../../limiter/adaptive/world.ts';

interface Setting {
  readonly algorithm: Rate;
  readonly headers: NonNullable<ProviderOptions['headers']>;
  /** The sizes of requests, in tokens. */
  readonly sizes: readonly number[];
  /** What a bucket holds. Default: the limit. */
  readonly burst?: number;
  /** How long an answer goes on after its headers; its tokens are known at its end. Default 0. */
  readonly streamMs?: number;
}

const TOKENS_PER_MINUTE = 100_000;

/** Sends requests to an API whose limit on tokens binds; that on requests is far away. */
async function send(setting: Setting, minutes: number) {
  const { algorithm, headers, sizes, burst, streamMs = 0 } = setting;
  const clock = new ManualClock();
  const limits = [
    { unit: 'requests', algorithm, limit: 5_000, windowMs: 60_000 },
    {
      unit: 'tokens',
      algorithm,
      limit: TOKENS_PER_MINUTE,
      windowMs: 60_000,
      ...(burst && { burst }),
    },
  ] as const;
  const times = { latency: 2_000, rejectLatencyMs: 50, retryAfter: 'exact' } as const;
  const provider = createProvider({ clock, headers, limits, ...times });
  const limiter = createLimiter({ concurrency: 100, clock, random: seededRandom(1) });
  const seen = { tokens: 0, answers: 0, rejected: 0 };
  const ask = async (size: number) => {
    const request = { inputTokens: size, maxTokens: 0, outputTokens: 0 };
    const answer = await provider.submitOrThrow(request).catch((error) => {
      seen.rejected += 1;
      throw error;
    });
    seen.tokens += size;
    seen.answers += 1;
    return answer;
  };
  const stream = async function* (size: number) {
    const { usage, ...head } = await ask(size);
    yield head;
    await new Promise<void>((done) => clock.setTimer(done, streamMs));
    yield { usage };
  };
  const estimate = (tokens: number) => ({ bytes: 1, tokens });
  const options = { estimate, outcomes: true } as const;
  if (streamMs > 0) from(sizes).pipe(limiter.throttle(stream, options)).subscribe();
  else from(sizes).pipe(limiter.throttle(ask, options)).subscribe();
  await clock.advanceAsync(minutes * 60_000);
  limiter.close({ waiting: 'reject' });
  return seen;
}

const STYLES = (['openai', 'anthropic'] as const).flatMap((headers) =>
  (['fixed-window', 'sliding-window', 'token-bucket'] as const).map((algorithm) => ({
    headers,
    algorithm,
  })),
);

describe('a limit on tokens that the first answers report', () => {
  // The API accepts 20: 96 to 127 were rejected while attempts before the first answer had no cost.
  it.each(STYLES)('is hardly exceeded: $algorithm, $headers', async (style) => {
    const sizes = Array(200).fill(5_000);
    const { tokens, rejected } = await send({ ...style, sizes }, 0.5);
    expect(tokens).toBeGreaterThan(0.85 * TOKENS_PER_MINUTE);
    expect(rejected).toBeLessThan(6);
  });

  it.each(STYLES)('is hardly exceeded by streams: $algorithm, $headers', async (style) => {
    const sizes = Array(200).fill(5_000);
    const { tokens, rejected } = await send({ ...style, sizes, streamMs: 60_000 }, 0.5);
    expect(tokens).toBeGreaterThan(0.85 * TOKENS_PER_MINUTE);
    expect(rejected).toBeLessThan(6);
  });
});

describe('a bucket of tokens', () => {
  it('is asked for more than was ever left of it', async () => {
    const small = Array(30).fill(1_000);
    const sizes = [...small, 20_000, ...small];
    const setting = { algorithm: 'token-bucket', headers: 'openai', burst: 20_000, sizes } as const;
    const { answers, rejected } = await send(setting, 3);
    expect(answers).toBe(sizes.length);
    expect(rejected).toBeLessThan(20);
  });

  // 16 of 100 were rejected where each was sent as soon as the earlier ones were paid for.
  it.each(['openai', 'anthropic'] as const)(
    'is asked when it covers a request, if sizes differ widely: %s',
    async (headers) => {
      const random = seededRandom(7);
      const sizes = Array.from({ length: 2_000 }, () => Math.round(500 * 16 ** random()));
      const setting = { algorithm: 'token-bucket', headers, sizes } as const;
      const { tokens, rejected } = await send(setting, 20);
      const mean = sizes.reduce((sum, size) => sum + size) / sizes.length;
      expect(tokens).toBeGreaterThan(20 * TOKENS_PER_MINUTE);
      expect(rejected).toBeLessThan((0.08 * tokens) / mean);
    },
  );
});
