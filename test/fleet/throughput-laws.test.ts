import fc from 'fast-check';
import { expect, it } from 'vitest';
import { memoryStore } from '../../src/fleet/memory-store.ts';
import { createLimiter } from '../../src/index.ts';
import { ManualClock } from '../../src/simulator/manual-clock.ts';
import { seededRandom } from '../../src/simulator/random.ts';
import { mostIn } from './rig.ts';
import { slowStore } from './slow-store.ts';

const world = fc.record({
  seed: fc.integer({ min: 1, max: 1e9 }),
  workers: fc.integer({ min: 1, max: 5 }),
  limit: fc.integer({ min: 200, max: 200_000 }),
  windowMs: fc.constantFrom<number>(10_000, 60_000),
  /** The largest cost, as a part of the limit: the bucket of the store holds 0.01. */
  largest: fc.double({ min: 0.005, max: 0.2, noNaN: true }),
  isEqual: fc.boolean(),
  tookMs: fc.constantFrom<number>(0, 300, 2_000),
  callMs: fc.constantFrom<number>(0, 2, 20),
});
type World = typeof world extends fc.Arbitrary<infer T> ? T : never;

/** Workers that always have more to send. @returns the part of the limit that they use */
async function run(known: World) {
  const { workers, limit, windowMs } = known;
  const random = seededRandom(known.seed);
  const clock = new ManualClock(1_000);
  const shared = slowStore(memoryStore({ clock }), clock, known.callMs / 2);
  const limits = { tokens: { limit, windowMs } };
  const largest = Math.max(2, Math.floor(limit * known.largest));
  const sends: { at: number; cost: number }[] = [];
  const limiters = Array.from({ length: workers }, () =>
    createLimiter({ clock, shared, adaptive: false, limits }),
  );
  const lane = async (limiter: (typeof limiters)[number]) => {
    for (;;) {
      const cost = known.isEqual ? largest : 1 + Math.floor(random() * largest);
      const attempt = () => {
        sends.push({ at: clock.now(), cost });
        return new Promise<void>((done) => {
          clock.setTimer(done, known.tookMs * (0.5 + random()));
        });
      };
      await limiter.run(attempt, { tokens: cost });
    }
  };
  const mean = known.isEqual ? largest : largest / 2;
  const inFlight = ((limit / windowMs) * known.tookMs * 1.5) / mean;
  for (const limiter of limiters) {
    for (let each = 0; each < 20 + (2 * inFlight) / workers; each += 1)
      lane(limiter).catch(() => {});
  }
  await clock.advanceAsync(windowMs);
  const from = clock.now();
  await clock.advanceAsync(10 * windowMs);
  for (const limiter of limiters) limiter.close();
  const sent = sends.filter(({ at }) => at >= from).reduce((sum, { cost }) => sum + cost, 0);
  return { used: sent / (10 * limit), most: mostIn(sends, windowMs), largest };
}

it('a limit of tokens is used up, whatever requests cost', async () => {
  await fc.assert(
    fc.asyncProperty(world, async (known) => {
      const { used, most, largest } = await run(known);
      // The rest: 1 % for late requests, what small buckets lose, and one request at the end.
      expect(used).toBeGreaterThan(0.93 - known.largest / 10);
      expect(most).toBeLessThanOrEqual(known.limit + largest);
    }),
    { numRuns: 20 },
  );
});

it('no window of the worker itself holds back what the store has granted', async () => {
  const equal = { seed: 1, limit: 222, windowMs: 3_000, largest: 0.127, isEqual: true } as const;
  const { used, most } = await run({ ...equal, workers: 1, tookMs: 0, callMs: 0 });
  expect(used).toBeGreaterThan(0.95);
  expect(most).toBeLessThanOrEqual(222 + 28);
});

it.each([
  [25, 1_000],
  [100, 1_000],
  [300, 1_000],
  [83, 3_000],
])('%i requests in %i ms are used up, though a call takes 20 ms', async (limit, windowMs) => {
  const clock = new ManualClock(1_000);
  const shared = slowStore(memoryStore({ clock }), clock, 10);
  const sends: { at: number; cost: number }[] = [];
  for (let worker = 0; worker < 4; worker += 1) {
    const options = { clock, shared, concurrency: 60, limits: { requests: { limit, windowMs } } };
    const limiter = createLimiter(options);
    const attempt = () => {
      sends.push({ at: clock.now(), cost: 1 });
      return new Promise<void>((done) => clock.setTimer(done, 60 + 10 * worker));
    };
    for (let request = 0; request < 4 * limit; request += 1) void limiter.run(attempt);
  }
  await clock.advanceAsync(2_000);
  const from = clock.now();
  await clock.advanceAsync(9_000);
  const used = sends.filter(({ at }) => at >= from).length / ((limit * 9_000) / windowMs);
  expect(used).toBeGreaterThan(0.94);
  expect(mostIn(sends, windowMs)).toBeLessThanOrEqual(limit);
});
