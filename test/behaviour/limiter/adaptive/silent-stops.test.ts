import fc from 'fast-check';
import { expect, it } from 'vitest';
import { seededRandom } from '../../../../src/simulator/index.ts';
import { limit, world } from '../../../limiter/adaptive/world.ts';

const MINUTE = 60_000;
/** Time to be as fast as before after the end: probes are a minute apart at most. */
const SOON_MS = 2 * MINUTE;

const stop = fc.oneof(
  // At the start, when nothing was accepted yet.
  fc.record({ fromMs: fc.constant(0), stopMs: fc.integer({ min: 100, max: 20 * MINUTE }) }),
  // Later, for longer than most windows last.
  fc.record({
    fromMs: fc.constantFrom(MINUTE, 5 * MINUTE),
    stopMs: fc.integer({ min: 3 * MINUTE, max: 20 * MINUTE }),
  }),
);
const provider = fc.record({
  latencyMs: fc.integer({ min: 150, max: 1_000 }),
  perSecond: fc.constantFrom(undefined, 10, 30),
});

it('a first time of rejections that name no wait leaves the rate as it was', async () => {
  await fc.assert(
    fc.asyncProperty(
      stop,
      provider,
      fc.integer({ min: 4, max: 30 }),
      async ({ fromMs, stopMs }, { latencyMs, perSecond }, concurrency) => {
        const toMs = fromMs + stopMs;
        const run = world({
          provider: {
            storms: [{ fromMs, toMs, status: 429 }],
            limits: perSecond === undefined ? [] : [limit('token-bucket', 20 * perSecond, 20_000)],
            latency: latencyMs,
            headers: 'none',
          },
          options: { concurrency },
        });
        const level = Math.min((concurrency * 1_000) / latencyMs, perSecond ?? 1e9);
        run.push(Math.ceil(level * (fromMs / 1_000 + 200)) + 1_000);
        await run.advance(toMs + SOON_MS);
        const before = run.answered[0] ?? 0;
        await run.advance(10_000);
        expect((run.answered[0] ?? 0) - before).toBeGreaterThan(0.85 * 10 * level);
        await run.end();
      },
    ),
    { numRuns: 15 },
  );
});

/** How long a rate that random rejections lowered takes to one request a second, in ms. */
async function recoveryMs(seed: number): Promise<number> {
  const random = seededRandom(seed);
  const chance = {
    part: 0,
    status: 429 as const,
    get retryAfter() {
      return 1 + Math.floor(3 * random());
    },
  };
  const run = world({
    provider: { latency: 300, headers: 'none' },
    options: { concurrency: 30 },
    chance,
    seed,
  });
  run.push(60_000);
  await run.advance(5 * MINUTE);
  chance.part = 0.5;
  await run.advance(10 * MINUTE);
  chance.part = 0;
  const from = run.clock.now();
  for (let last = 0; run.clock.now() < from + 60 * MINUTE; ) {
    last = run.sent.length;
    await run.advance(10_000);
    if (run.sent.length - last >= 10) break;
  }
  const ms = run.clock.now() - from;
  await run.end();
  return ms;
}

// Without the rule: 1,410 to 3,600 s for twelve seeds; with it 580 to 1,860.
it.each([1, 2, 3])(
  'a rate that random rejections have lowered to almost nothing grows within minutes: %i',
  async (seed) => {
    expect(await recoveryMs(seed)).toBeLessThan(20 * MINUTE);
  },
);
