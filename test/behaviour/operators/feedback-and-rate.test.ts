import { range } from 'rxjs';
import { describe, expect, it } from 'vitest';
import {
  createLimiter,
  FeedbackSubject,
  type LimiterOptions,
  type ThrottleOptions,
  throttle,
} from '../../../src/index.ts';
import { createProvider, ManualClock } from '../../../src/simulator/index.ts';
import { fate } from '../../limiter/harness.ts';
import { tooMany, watch } from '../../request/harness.ts';

describe('a feedback of the user', () => {
  it.each<[string, LimiterOptions, boolean]>([
    ['alone', {}, true],
    ['beside `throttledConcurrency`', { throttledConcurrency: 3 }, false],
    ['beside `throttledByteFactor`', { throttledByteFactor: 3 }, false],
    ['beside `adaptive: false`', { adaptive: false }, false],
    ['beside both', { adaptive: 'rate', throttledConcurrency: 3 }, true],
  ])('does not choose how 429s are answered: %s', (_, options, adapts) => {
    const limiter = createLimiter({ feedback: new FeedbackSubject(), ...options });
    expect(limiter.snapshot().adaptive !== undefined).toBe(adapts);
  });
});

/** When attempts are sent to a provider of 10 a second, whose 429s name a wait or not. */
async function sentAt(
  retryAfter: 'exact' | 'none',
  windowMs: number,
  optionsOf: (clock: ManualClock) => ThrottleOptions<number>,
): Promise<{ readonly times: readonly number[]; readonly rejected: number }> {
  const clock = new ManualClock();
  const limit = windowMs / 100;
  const provider = createProvider({
    clock,
    limits: [{ unit: 'requests', algorithm: 'fixed-window', limit, windowMs }],
    headers: retryAfter === 'none' ? 'none' : 'retry-after',
    retryAfter,
    latency: 50,
  });
  const times: number[] = [];
  const send = () => {
    times.push(clock.now());
    return provider.submitOrThrow({ inputTokens: 1, maxTokens: 1 });
  };
  const options = { clock, concurrency: 15, random: () => 0.5, ...optionsOf(clock) };
  const seen = watch(range(0, 1_000).pipe(throttle(send, options)));
  await clock.advanceAsync(30_000);
  seen.subscription.unsubscribe();
  return { times, rejected: provider.stats().rejected };
}

describe('under the adaptive rate, attempts are sent at the same times', () => {
  const SAME = { reopen: 'all', throttledForMs: 0 } as const;

  it.each([
    ['without a wait', 'none', 1_000, {}],
    ['with a wait below 2 s', 'exact', 1_000, {}],
    ['with a wait of 2 s and more, and the same backoff', 'exact', 10_000, SAME],
  ] as const)(
    'with a feedback of the user as without: 429s %s',
    async (_, told, windowMs, given) => {
      const alone = await sentAt(told, windowMs, () => ({}));
      const shared = await sentAt(told, windowMs, (clock) => ({
        feedback: new FeedbackSubject({ clock, ...given }),
      }));
      expect(shared).toEqual(alone);
      expect(alone.rejected).toBeGreaterThan(0);
      const fixed = await sentAt(told, windowMs, (clock) => ({
        adaptive: false,
        feedback: new FeedbackSubject({ clock, ...given }),
      }));
      expect(fixed.times).not.toEqual(alone.times);
    },
  );
});

describe('the wait that an answer names closes the gate of a feedback', () => {
  const make = (options: LimiterOptions = {}) => {
    const clock = new ManualClock();
    const feedback = new FeedbackSubject({ clock });
    const heard: unknown[] = [];
    feedback.subscribe(({ kind, retryAfterMs }) => heard.push(kind, retryAfterMs));
    return {
      clock,
      feedback,
      heard,
      limiter: createLimiter({ feedback, maxAttempts: 1, ...options }),
    };
  };

  const ways = {
    'an attempt of a limiter': async (limiter, error) => {
      fate(limiter.run(() => Promise.reject(error)));
    },
    'a lease': async (limiter, error) => (await limiter.acquire()).release('failed', error),
  } satisfies Record<
    string,
    (limiter: ReturnType<typeof createLimiter>, error: Error) => Promise<void>
  >;

  it.each(Object.entries(ways))('from 2 s on where the rate adapts: %s', async (_, answer) => {
    for (const [retryAfterMs, epoch] of [
      [undefined, 0],
      [1_999, 0],
      [2_000, 1],
    ] as const) {
      const { clock, feedback, heard, limiter } = make();
      await answer(limiter, tooMany(retryAfterMs));
      await clock.advanceAsync(0);
      expect([retryAfterMs, feedback.epoch]).toEqual([retryAfterMs, epoch]);
      expect(heard).toEqual(['throttled', retryAfterMs]);
    }
  });

  it.each(Object.entries(ways))('however short by the fixed rules: %s', async (_, answer) => {
    const { clock, feedback, limiter } = make({ adaptive: false });
    await answer(limiter, tooMany(1));
    await clock.advanceAsync(0);
    expect(feedback.epoch).toBe(1);
  });

  it('however short if it is pushed from outside', async () => {
    const { clock, feedback, limiter } = make();
    feedback.next({ kind: 'throttled', retryAfterMs: 100 });
    const told = fate(limiter.run(() => 1));
    await clock.advanceAsync(99);
    expect([limiter.snapshot().mode, told.state]).toEqual(['throttled', 'open']);
    await clock.advanceAsync(1);
    expect(told.value).toBe(1);
  });

  it('by the rules of each limiter, for limiters with different `adaptive`', async () => {
    const { clock, feedback, limiter } = make();
    const fixed = createLimiter({ feedback, adaptive: false });
    await ways['a lease'](limiter, tooMany(500));
    expect([feedback.mode, feedback.backoffUntil]).toEqual(['throttled', undefined]);
    await ways['a lease'](fixed, tooMany(700));
    expect(feedback.backoffUntil).toBe(clock.now() + 700);
  });
});
