import fc from 'fast-check';
import { beforeEach, expect, it, vi } from 'vitest';
import { memoryStore } from '../../src/fleet/memory-store.ts';
import { createLimiter, createLimiterGroup } from '../../src/index.ts';
import { ManualClock } from '../../src/simulator/manual-clock.ts';
import { slowStore } from './slow-store.ts';

beforeEach(() => {
  vi.spyOn(process, 'emitWarning').mockImplementation(() => {});
});

const MOST_WEIGHT = 4;
const MOST_BYTES = 600;

const world = fc.record({
  /** Whether the amounts are those of a group's key, of what its keys share, or of one limiter. */
  of: fc.constantFrom('each' as const, 'shared' as const, 'both' as const, 'limiter' as const),
  workers: fc.integer({ min: 1, max: 5 }),
  concurrency: fc.integer({ min: MOST_WEIGHT, max: 9 }),
  maxBytes: fc.integer({ min: 50, max: 1_200 }),
  /** The requests in a window of 1 s. */
  limit: fc.constantFrom(undefined, 10, 50),
  adaptive: fc.constantFrom('rate' as const, false as const),
  callMs: fc.constantFrom(0, 2, 30),
  requests: fc.array(
    fc.record({
      worker: fc.nat(4),
      afterMs: fc.oneof(fc.constant(0), fc.nat(50), fc.nat(2_000)),
      weight: fc.integer({ min: 1, max: MOST_WEIGHT }),
      bytes: fc.oneof(fc.nat(20), fc.nat(MOST_BYTES)),
      tookMs: fc.integer({ min: 1, max: 500 }),
    }),
    { minLength: 2, maxLength: 60 },
  ),
});
type World = typeof world extends fc.Arbitrary<infer T> ? T : never;

/** Sends everything, and waits for much longer than the limits need. */
async function run(known: World) {
  const clock = new ManualClock(1_000);
  const store = slowStore(memoryStore({ clock }), clock, known.callMs / 2);
  const { of, adaptive, limit } = known;
  const limits = limit === undefined ? undefined : { requests: { limit, windowMs: 1_000 } };
  const amounts = { concurrency: known.concurrency, maxBytes: known.maxBytes, limits };
  const senders = Array.from({ length: known.workers }, () => {
    if (of === 'limiter') return createLimiter({ clock, shared: store, adaptive, ...amounts });
    const group = createLimiterGroup((key: string) => key, {
      clock,
      store,
      each: { adaptive, ...(of === 'shared' ? {} : amounts) },
      shared: of === 'each' ? { concurrency: 100 } : amounts,
    });
    return {
      run: (attempt: () => Promise<void>, sizes: { weight: number; bytes: number }) =>
        group.run('a', attempt, sizes),
      close: () => group.close(),
    };
  });
  let ended = 0;
  const used = { slots: 0, bytes: 0 };
  const most = { slots: 0, bytes: 0 };
  for (const { worker, afterMs, weight, bytes, tookMs } of known.requests) {
    await clock.advanceAsync(afterMs);
    const attempt = () => {
      used.slots += weight;
      used.bytes += bytes;
      most.slots = Math.max(most.slots, used.slots);
      most.bytes = Math.max(most.bytes, used.bytes);
      return new Promise<void>((done) => {
        clock.setTimer(() => {
          used.slots -= weight;
          used.bytes -= bytes;
          ended += 1;
          done();
        }, tookMs);
      });
    };
    void senders[worker % known.workers]?.run(attempt, { weight, bytes });
  }
  await clock.advanceAsync(20_000 + 4 * 600 * known.requests.length);
  const unsent = known.requests.length - ended;
  for (const sender of senders) sender.close();
  return { most, unsent };
}

it('requests of any weights and bytes are all sent, within the slots and bytes of the fleet', async () => {
  await fc.assert(
    fc.asyncProperty(world, async (known) => {
      const { most, unsent } = await run(known);
      expect(unsent).toBe(0);
      expect(most.slots).toBeLessThanOrEqual(known.concurrency);
      // A request larger than what is left passes while the bytes are not exceeded.
      expect(most.bytes).toBeLessThanOrEqual(known.maxBytes + MOST_BYTES);
    }),
    { numRuns: 60 },
  );
});
