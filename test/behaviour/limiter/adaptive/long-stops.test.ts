import fc from 'fast-check';
import { expect, it } from 'vitest';
import { createLimiter } from '../../../../src/index.ts';
import { ManualClock } from '../../../../src/simulator/manual-clock.ts';
import { between, limit, saturate, world } from '../../../limiter/adaptive/world.ts';

const MINUTE = 60_000;
/** What is given to be as fast as before, after the end of the wait. */
const SOON_MS = 12_000;

const stop = fc.record({
  namedMs: fc.integer({ min: 2 * MINUTE, max: 10 * MINUTE }),
  /** The first 429 comes at the start, or when some were accepted. */
  fromMs: fc.constantFrom(0, 500, 3_000, 20_000),
  latencyMs: fc.integer({ min: 150, max: 1_000 }),
  status: fc.constantFrom(429 as const, 503 as const),
  concurrency: fc.integer({ min: 4, max: 30 }),
  perSecond: fc.constantFrom(undefined, 10, 30),
});

it('a first rejection that names a wait of minutes leaves the rate as it was', async () => {
  await fc.assert(
    fc.asyncProperty(
      stop,
      async ({ namedMs, fromMs, latencyMs, status, concurrency, perSecond }) => {
        const toMs = fromMs + namedMs;
        const run = world({
          provider: {
            storms: [{ fromMs, toMs, retryAfterMs: namedMs, status }],
            limits: perSecond === undefined ? [] : [limit('token-bucket', 20 * perSecond, 20_000)],
            latency: latencyMs,
            headers: 'retry-after',
          },
          options: { concurrency },
        });
        const level = Math.min((concurrency * 1_000) / latencyMs, perSecond ?? 1e9);
        run.push(Math.ceil(50 * level) + 1_000);
        await run.advance(toMs);
        expect(run.sent.filter((at) => at > fromMs + latencyMs && at < toMs)).toEqual([]);
        await run.advance(SOON_MS);
        const before = run.answered[0] ?? 0;
        await run.advance(10_000);
        expect((run.answered[0] ?? 0) - before).toBeGreaterThan(0.85 * 10 * level);
        await run.end();
      },
    ),
    { numRuns: 15 },
  );
});

it.each([
  [40, 2 * MINUTE],
  [600, 5 * MINUTE],
  // Longer than `maxRetryAfterMs`.
  [40, 15 * MINUTE],
])('windows of %i requests in %i ms are learned all the same', async (count, windowMs) => {
  const run = await saturate(
    {
      provider: {
        limits: [limit('fixed-window', count, windowMs)],
        latency: 300,
        headers: 'retry-after',
      },
      options: { onLongWait: 'wait' },
    },
    (8 * windowMs) / 1_000,
  );
  const { accepted, rejected } = between(
    run.provider.stats(),
    (3 * windowMs) / 1_000,
    (8 * windowMs) / 1_000,
  );
  expect(accepted).toBeGreaterThan(0.95 * 5 * count);
  expect(rejected).toBeLessThan(0.1 * accepted);
  await run.end();
});

it.each([0.1, 1, 16])(
  'a limiter that is used every %f hours is not slow after its first 429',
  async (hours) => {
    const clock = new ManualClock();
    const limiter = createLimiter({ clock });
    const answers: number[] = [];
    let isRejecting = false;
    const send = async () => {
      if (isRejecting) {
        isRejecting = false;
        throw Object.assign(new Error('too many'), { status: 429 });
      }
      answers.push(clock.now());
    };
    for (let n = 0; n < 2; n += 1) {
      await limiter.run(send);
      await clock.advanceAsync(hours * 60 * MINUTE);
    }
    isRejecting = true;
    void limiter.run(send);
    await clock.advanceAsync(MINUTE);
    const from = clock.now();
    for (let n = 0; n < 3; n += 1) void limiter.run(send);
    await clock.advanceAsync(MINUTE);
    expect(answers).toHaveLength(6);
    expect((answers.at(-1) ?? 0) - from).toBeLessThan(30_000);
  },
);
