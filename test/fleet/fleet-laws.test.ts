import fc from 'fast-check';
import { beforeEach, expect, it, vi } from 'vitest';
import { memoryStore } from '../../src/fleet/memory-store.ts';
import { ManualClock } from '../../src/simulator/manual-clock.ts';
import { jain, mostInWindow, Worker } from './rig.ts';

beforeEach(() => {
  vi.spyOn(process, 'emitWarning').mockImplementation(() => {});
});

const WINDOW_MS = 10_000;

/** What happens to a worker at one moment. */
const step = fc.record({
  worker: fc.nat(3),
  what: fc.constantFrom('send', 'send', 'cut', 'deaf', 'open', 'open', 'clear'),
  count: fc.integer({ min: 1, max: 30 }),
  cost: fc.integer({ min: 1, max: 40 }),
  afterMs: fc.nat(600),
});

it('no script of sends, cuts and lost answers exceeds a limit, or holds more slots than there are', async () => {
  const script = fc.array(step, { minLength: 5, maxLength: 25 });
  const sizes = fc.record({
    tokens: fc.integer({ min: 300, max: 6_000 }),
    concurrency: fc.integer({ min: 1, max: 30 }),
    tookMs: fc.integer({ min: 1, max: 400 }),
  });
  await fc.assert(
    fc.asyncProperty(script, sizes, async (steps, { tokens, concurrency, tookMs }) => {
      const clock = new ManualClock();
      const store = memoryStore({ clock, ttlMs: 1_000 });
      const options = { concurrency, limits: { tokens: { limit: tokens, windowMs: WINDOW_MS } } };
      const workers = [0, 1, 2, 3].map(() => new Worker(store, clock, options));
      let most = 0;
      const look = () => {
        most = Math.max(
          most,
          workers.reduce((sum, { inFlight }) => sum + inFlight, 0),
        );
      };
      for (const { worker, what, count, cost, afterMs } of steps) {
        const at = workers[worker] as Worker;
        if (what === 'send') at.send(count, tookMs, cost);
        else if (what === 'clear') at.limiter.clear();
        else at.way = what;
        for (let left = afterMs; left > 0; left -= 50) {
          await clock.advanceAsync(Math.min(50, left));
          look();
        }
      }
      expect(mostInWindow(workers, WINDOW_MS)).toBeLessThanOrEqual(Math.ceil(tokens * 1.01));
      // One that is cut off for longer than its lease still has its requests in flight.
      const slack = steps.some(({ what }) => what === 'cut' || what === 'deaf') ? 3 : 0;
      expect(most).toBeLessThanOrEqual(concurrency * (1 + (tookMs > 300 ? slack : 0)));
      // Nobody is frozen for good: what waits goes when the ways are open.
      for (const worker of workers) worker.way = 'open';
      await clock.advanceAsync(120_000);
      expect(workers.map(({ limiter }) => limiter.snapshot().waiting)).toEqual([0, 0, 0, 0]);
    }),
    { numRuns: 10 },
  );
});

it('workers of equal demand get equal shares, however many there are', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 2, max: 32 }),
      fc.integer({ min: 100, max: 2_000 }),
      fc.integer({ min: 1, max: 20 }),
      async (count, perSecond, cost) => {
        const clock = new ManualClock();
        const store = memoryStore({ clock });
        const limits = { tokens: { limit: perSecond * cost * 60, windowMs: 60_000 } };
        const workers = Array.from(
          { length: count },
          () => new Worker(store, clock, { concurrency: 10_000, limits }),
        );
        for (const worker of workers) worker.send((perSecond * 10) / count, 5, cost);
        await clock.advanceAsync(8_000);
        const sent = workers.map(({ sends }) => sends.length);
        expect(jain(sent)).toBeGreaterThanOrEqual(0.95);
        const all = sent.reduce((a, b) => a + b, 0);
        expect(all).toBeGreaterThanOrEqual(perSecond * 8 * 0.98 - count);
      },
    ),
    { numRuns: 6 },
  );
});

it('a thousand workers keep a limit together, fairly', async () => {
  const clock = new ManualClock();
  const store = memoryStore({ clock });
  const workers = Array.from(
    { length: 1_000 },
    () => new Worker(store, clock, { requestsPerMinute: 60_000, concurrency: 5_000 }),
  );
  for (const worker of workers) worker.send(10, 20);
  await clock.advanceAsync(4_000);
  const sent = workers.map(({ sends }) => sends.length);
  expect(mostInWindow(workers, 60_000)).toBeLessThanOrEqual(60_000);
  expect(sent.reduce((a, b) => a + b, 0)).toBeGreaterThan(4_000 * 0.98 - 500);
  expect(jain(sent)).toBeGreaterThanOrEqual(0.95);
});

it('a clock of the store that steps freezes nobody', async () => {
  const clock = new ManualClock();
  let stepMs = 1e9;
  const store = memoryStore({
    clock: {
      now: () => clock.now() + stepMs,
      setTimer: (callback, delayMs) => clock.setTimer(callback, delayMs),
    },
  });
  const workers = [1, 2].map(() => new Worker(store, clock, { requestsPerMinute: 6_000 }));
  for (const worker of workers) worker.send(10_000, 10);
  await clock.advanceAsync(5_000);
  for (const step of [-3.6e6, 3.6e6, -5_000, 10_000]) {
    stepMs += step;
    const before = workers.reduce((sum, { sends }) => sum + sends.length, 0);
    await clock.advanceAsync(5_000);
    const sent = workers.reduce((sum, { sends }) => sum + sends.length, 0) - before;
    expect(sent).toBeGreaterThan(450);
    expect(sent).toBeLessThan(620);
  }
});
