import { from } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { createLimiter } from '../../../../src/index.ts';
import {
  createProvider,
  type LimitOptions,
  ManualClock,
  seededRandom,
} from '../../../../src/simulator/index.ts';

/** The tokens of requests: twenty times as many are input, and sizes differ by a factor of 16. */
function requests(count: number) {
  const random = seededRandom(11);
  const size = (least: number) => Math.round(least * 16 ** random());
  return Array.from({ length: count }, () => ({ input: size(1_000), output: size(50) }));
}

const MINUTES = 20;

type Request = ReturnType<typeof requests>[number];

/**
 * Sends requests to an API that limits requests, input and output apart, as Anthropic does. The
 * limit on both together that its headers tell rejects nothing.
 */
async function send(perMinute: { input: number; output: number }, isStream: boolean) {
  const clock = new ManualClock();
  const algorithm = 'token-bucket' as const;
  const limit = (unit: LimitOptions['unit'], limit: number, more: Partial<LimitOptions> = {}) => ({
    ...{ unit, algorithm, limit, windowMs: 60_000, charge: 'settle' as const },
    ...more,
  });
  const sum = { limit: perMinute.input + perMinute.output, windowMs: 60_000 };
  const provider = createProvider({
    clock,
    headers: 'anthropic',
    latency: 3_000,
    rejectLatencyMs: 50,
    limits: [
      limit('requests', 5_000),
      limit('tokens', 1e9, { advertised: sum }),
      limit('input-tokens', perMinute.input),
      limit('output-tokens', perMinute.output),
    ],
  });
  const limiter = createLimiter({ concurrency: 200, clock, random: seededRandom(1) });
  const seen = { input: 0, output: 0, answers: 0, rejected: 0 };
  const ask = async ({ input, output }: Request) => {
    const tokens = { inputTokens: input, outputTokens: output, maxTokens: Math.ceil(output * 1.5) };
    const answer = await provider.submitOrThrow(tokens).catch((error) => {
      seen.rejected += 1;
      throw error;
    });
    seen.input += input;
    seen.output += output;
    seen.answers += 1;
    return answer;
  };
  const stream = async function* (request: Request) {
    const { usage, ...head } = await ask(request);
    yield head;
    await new Promise<void>((done) => clock.setTimer(done, 20_000));
    yield { usage };
  };
  const estimate = ({ input, output }: Request) => ({ bytes: 1, tokens: input + output });
  const options = { estimate, outcomes: true } as const;
  const source = from(requests(6_000));
  if (isStream) source.pipe(limiter.throttle(stream, options)).subscribe();
  else source.pipe(limiter.throttle(ask, options)).subscribe();
  await clock.advanceAsync(MINUTES * 60_000);
  limiter.close({ waiting: 'reject' });
  return seen;
}

describe('limits on input and on output tokens that headers tell', () => {
  // 5 to 8 of 100 were rejected while only the limit on both together was read.
  it.each([
    { binds: 'input', perMinute: { input: 540_000, output: 200_000 } },
    { binds: 'output', perMinute: { input: 3_000_000, output: 27_000 } },
  ] as const)('are used in full with few rejections: $binds binds', async (setting) => {
    const { binds, perMinute } = setting;
    for (const isStream of [false, true]) {
      const seen = await send(perMinute, isStream);
      expect(seen[binds]).toBeGreaterThan(0.95 * MINUTES * perMinute[binds]);
      expect(seen.rejected).toBeLessThan(0.045 * seen.answers);
    }
  });
});
