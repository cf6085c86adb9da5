import fc from 'fast-check';
import { beforeEach, expect, it, vi } from 'vitest';
import { memoryStore } from '../../src/fleet/memory-store.ts';
import { createLimiter } from '../../src/index.ts';
import { ManualClock } from '../../src/simulator/manual-clock.ts';
import { jain, mostIn, mostInWindow, Worker } from './rig.ts';

beforeEach(() => {
  vi.spyOn(process, 'emitWarning').mockImplementation(() => {});
});

const WINDOW_MS = 2_000;

const load = fc.record({
  workers: fc.integer({ min: 2, max: 8 }),
  concurrency: fc.integer({ min: 1, max: 8 }),
  /** A request costs this part of the limit. */
  parts: fc.constantFrom(2, 3, 4, 5, 8, 10, 20, 50),
  tookMs: fc.integer({ min: 1, max: 600 }),
  gaps: fc.array(fc.nat(1_500), { minLength: 1, maxLength: 20 }),
  each: fc.integer({ min: 1, max: 10 }),
});

it('no window sees more than the limit, and the limit is used where the slots allow', async () => {
  await fc.assert(
    fc.asyncProperty(load, async (known) => {
      const { workers: count, concurrency, parts, tookMs, gaps, each } = known;
      const cost = 200;
      const limit = cost * parts;
      const clock = new ManualClock();
      const store = memoryStore({ clock });
      const limits = { tokens: { limit, windowMs: WINDOW_MS } };
      const workers = Array.from(
        { length: count },
        () => new Worker(store, clock, { concurrency, limits }),
      );
      for (const [turn, gapMs] of gaps.entries()) {
        workers[turn % count]?.send(each, tookMs, cost);
        await clock.advanceAsync(gapMs);
      }
      // Then all have enough to send.
      for (const worker of workers) worker.send(parts * 6, tookMs, cost);
      await clock.advanceAsync(2_000);
      const before = sentOf(workers);
      await clock.advanceAsync(5 * WINDOW_MS);
      const perWindow = (sentOf(workers) - before) / 5;
      expect(mostInWindow(workers, WINDOW_MS)).toBeLessThanOrEqual(limit);
      // So many the slots let through. One of them waits for its time, and each is idle for a call.
      const bySlots = ((concurrency - 1) * WINDOW_MS) / (tookMs + 75);
      if (bySlots > parts * 1.5) expect(perWindow + 0.2).toBeGreaterThanOrEqual(parts * 0.95);
    }),
    { numRuns: 40 },
  );
});

it('adds one request to a window at most, where large costs differ', async () => {
  const costs = fc.array(fc.integer({ min: 1, max: 600 }), { minLength: 2, maxLength: 30 });
  const sizes = fc.record({
    concurrency: fc.integer({ min: 1, max: 6 }),
    tookMs: fc.integer({ min: 1, max: 600 }),
    gapMs: fc.nat(200),
  });
  await fc.assert(
    fc.asyncProperty(costs, sizes, async (list, { concurrency, tookMs, gapMs }) => {
      const clock = new ManualClock();
      const store = memoryStore({ clock });
      const limits = { tokens: { limit: 1_000, windowMs: WINDOW_MS } };
      const workers = [0, 1, 2, 3].map(() => new Worker(store, clock, { concurrency, limits }));
      for (const [turn, cost] of [...list, ...list, ...list].entries()) {
        workers[turn % 4]?.send(1, tookMs, cost);
        await clock.advanceAsync(gapMs);
      }
      await clock.advanceAsync(60_000);
      const most = mostInWindow(workers, WINDOW_MS);
      expect(most).toBeLessThan(1_000 + Math.max(10, ...list));
    }),
    { numRuns: 30 },
  );
});

it('no window sees more than the limit, and most of it is used, where requests use half of their estimates', async () => {
  const sizes = fc.record({
    workers: fc.integer({ min: 1, max: 8 }),
    estimate: fc.constantFrom(4, 10, 20, 40),
    tookMs: fc.integer({ min: 100, max: 500 }),
  });
  await fc.assert(
    fc.asyncProperty(sizes, async ({ workers: count, estimate, tookMs }) => {
      const clock = new ManualClock();
      const store = memoryStore({ clock });
      const limits = { tokens: { limit: 2_000, windowMs: 10_000, charge: 'settle' as const } };
      const sent: { at: number; cost: number }[] = [];
      const used = estimate / 2;
      for (let worker = 0; worker < count; worker += 1) {
        const concurrency = 5 * count;
        const limiter = createLimiter({
          concurrency,
          limits,
          adaptive: false,
          clock,
          shared: store,
        });
        for (let request = 0; request < 5_000 / used; request += 1) {
          void limiter.run(
            async ({ recordTokens }) => {
              sent.push({ at: clock.now(), cost: used });
              await new Promise<void>((done) => clock.setTimer(done, tookMs));
              recordTokens(used);
            },
            { tokens: estimate },
          );
        }
      }
      await clock.advanceAsync(30_000);
      expect(mostIn(sent, 10_000)).toBeLessThanOrEqual(2_000);
      const bySlots = (5 * count * used * 10_000) / (tookMs + 75);
      const perWindow = (sent.length * used) / 3;
      if (bySlots > 4_000) expect(perWindow).toBeGreaterThan(1_600);
    }),
    { numRuns: 12 },
  );
});

it('lets every worker send in turn where there are fewer slots than workers', async () => {
  const clock = new ManualClock();
  const store = memoryStore({ clock });
  const limits = { tokens: { limit: 1_600, windowMs: WINDOW_MS } };
  const workers = Array.from(
    { length: 6 },
    () => new Worker(store, clock, { concurrency: 4, limits }),
  );
  for (const worker of workers) worker.send(50, 60, 200);
  await clock.advanceAsync(12_000);
  expect(jain(workers.map(({ sends }) => sends.length))).toBeGreaterThan(0.95);
});

it('gets back of estimates what the window still holds, and nothing of older ones', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 1, max: 4 }),
      fc.integer({ min: WINDOW_MS, max: 2 * WINDOW_MS }),
      async (count, tookMs) => {
        const clock = new ManualClock();
        const store = memoryStore({ clock });
        const limits = {
          tokens: { limit: 1_000, windowMs: WINDOW_MS, charge: 'settle' as const },
        };
        const sent: { at: number; cost: number }[] = [];
        const limiters = Array.from({ length: count }, () =>
          createLimiter({ concurrency: 1_000, limits, adaptive: false, clock, shared: store }),
        );
        for (const limiter of limiters) {
          for (let request = 0; request < 600; request += 1) {
            // At first they use nothing of what was estimated, then all of it.
            const [used, ms] = request < 300 ? [0, tookMs] : [10, 20];
            const use = async () => {
              const lease = await limiter.acquire({ tokens: 10 });
              sent.push({ at: clock.now(), cost: used });
              clock.setTimer(() => {
                lease.recordTokens(used);
                lease.release();
              }, ms);
            };
            void use();
          }
        }
        await clock.advanceAsync(60_000);
        expect(sent.length).toBe(600 * count);
        expect(mostIn(sent, WINDOW_MS)).toBeLessThanOrEqual(1_000);
      },
    ),
    { numRuns: 8 },
  );
});

function sentOf(workers: readonly Worker[]): number {
  return workers.reduce((sum, { sends }) => sum + sends.length, 0);
}
