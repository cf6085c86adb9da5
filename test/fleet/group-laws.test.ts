import fc from 'fast-check';
import { beforeEach, expect, it, vi } from 'vitest';
import { memoryStore } from '../../src/fleet/memory-store.ts';
import { createLimiterGroup } from '../../src/index.ts';
import { ManualClock } from '../../src/simulator/manual-clock.ts';
import { mostIn } from './rig.ts';
import { slowStore } from './slow-store.ts';

beforeEach(() => {
  vi.spyOn(process, 'emitWarning').mockImplementation(() => {});
});

const WINDOW_MS = 2_000;
const MOST_COST = 12;

const slots = fc.oneof(fc.constant(1_000), fc.integer({ min: 1, max: 6 }));
const world = fc.record({
  groups: fc.integer({ min: 1, max: 6 }),
  keys: fc.integer({ min: 1, max: 3 }),
  eachLimit: fc.integer({ min: MOST_COST, max: 600 }),
  sharedLimit: fc.integer({ min: MOST_COST, max: 600 }),
  eachSlots: slots,
  sharedSlots: slots,
  adaptive: fc.constantFrom('rate' as const, false as const),
  callMs: fc.constantFrom(0, 2, 30),
  costs: fc.array(fc.integer({ min: 1, max: MOST_COST }), { minLength: 1, maxLength: 6 }),
  tookMs: fc.array(fc.integer({ min: 1, max: 900 }), { minLength: 1, maxLength: 6 }),
  gaps: fc.array(fc.nat(1_500), { minLength: 1, maxLength: 12 }),
  each: fc.integer({ min: 1, max: 12 }),
});
type World = typeof world extends fc.Arbitrary<infer T> ? T : never;

interface Sent {
  readonly key: string;
  readonly at: number;
  readonly cost: number;
}

/** Sends everything, and waits for as long as the limits need, with plenty to spare. */
async function run(known: World) {
  const clock = new ManualClock(1_000);
  const store = slowStore(memoryStore({ clock }), clock, known.callMs / 2);
  const limit = (tokens: number) => ({ tokens: { limit: tokens, windowMs: WINDOW_MS } });
  const groups = Array.from({ length: known.groups }, () =>
    createLimiterGroup((key: string) => key, {
      clock,
      store,
      each: {
        adaptive: known.adaptive,
        concurrency: known.eachSlots,
        limits: limit(known.eachLimit),
      },
      shared: { concurrency: known.sharedSlots, limits: limit(known.sharedLimit) },
    }),
  );
  const sent: Sent[] = [];
  const inFlight = new Map<string, number>();
  const most = { shared: 0, each: 0 };
  let all = 0;
  let ended = 0;
  const attempt = (key: string, cost: number, tookMs: number) => {
    sent.push({ key, at: clock.now(), cost });
    inFlight.set(key, (inFlight.get(key) ?? 0) + 1);
    const counts = [...inFlight.values()];
    most.shared = Math.max(
      most.shared,
      counts.reduce((sum, count) => sum + count, 0),
    );
    most.each = Math.max(most.each, ...counts);
    return new Promise<void>((done) => {
      clock.setTimer(() => {
        inFlight.set(key, (inFlight.get(key) as number) - 1);
        ended += 1;
        done();
      }, tookMs);
    });
  };
  for (const [turn, gapMs] of known.gaps.entries()) {
    for (let place = 0; place < known.each; place += 1) {
      const key = `key ${(turn + place) % known.keys}`;
      const cost = known.costs[(turn * 7 + place) % known.costs.length] as number;
      const tookMs = known.tookMs[(turn * 5 + place) % known.tookMs.length] as number;
      all += 1;
      const group = groups[(turn + place) % known.groups];
      void group?.run(key, () => attempt(key, cost, tookMs), { tokens: cost });
    }
    await clock.advanceAsync(gapMs);
  }
  const slowest = Math.min(known.eachLimit, known.sharedLimit) / WINDOW_MS;
  const neededMs = (all * MOST_COST) / slowest + all * Math.max(...known.tookMs);
  await clock.advanceAsync(20_000 + 4 * neededMs);
  for (const group of groups) group.close();
  return { sent, most, isDone: ended === all };
}

it('groups of several processes keep both their limits, and every request is sent', async () => {
  await fc.assert(
    fc.asyncProperty(world, async (known) => {
      const { sent, most, isDone } = await run(known);
      expect(isDone).toBe(true);
      expect(most.shared).toBeLessThanOrEqual(known.sharedSlots);
      expect(most.each).toBeLessThanOrEqual(known.eachSlots);
      // Where a request waits for both limits, its process keeps the grant of the first one.
      const more = known.groups * Math.max(...known.costs);
      expect(mostIn(sent, WINDOW_MS)).toBeLessThanOrEqual(known.sharedLimit + more);
      for (const key of new Set(sent.map((one) => one.key))) {
        const own = sent.filter((one) => one.key === key);
        expect(mostIn(own, WINDOW_MS)).toBeLessThanOrEqual(known.eachLimit + more);
      }
    }),
    { numRuns: 40 },
  );
});
