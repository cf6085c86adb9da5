import { memoryStore } from '../../src/fleet/memory-store.ts';
import type { SharedStore } from '../../src/fleet/shared-store.ts';
import { createLimiter } from '../../src/index.ts';
import { ManualClock } from '../../src/simulator/manual-clock.ts';
import { seededRandom } from '../../src/simulator/random.ts';
import { jain, mostIn } from './rig.ts';

/** A fleet whose calls of the store take long. */
export interface SlowWorld {
  readonly limit: number;
  readonly windowMs: number;
  /** How long a call of the store takes, by worker, in ms. */
  readonly callsMs: readonly number[];
  /** The part of this time by which a call takes shorter or longer. */
  readonly jitter?: number;
  readonly adaptive?: false | 'rate';
  /** The cost of a request in tokens, where tokens are limited. */
  readonly tokens?: number;
  readonly tookMs?: number;
  readonly concurrency?: number;
  readonly ms?: number;
}

/** The store, reached by calls that take `callMs` in all, half of it each way. */
function farStore(store: SharedStore, clock: ManualClock, callMs: () => number): SharedStore {
  const pass = <T>(value: T, ms: number) =>
    new Promise<T>((done) => {
      clock.setTimer(() => done(structuredClone(value)), ms);
    });
  return {
    ...store,
    exchange: async (request) => {
      const wayMs = callMs() / 2;
      const arrived = await pass(request, wayMs);
      return pass(await store.exchange(arrived), wayMs);
    },
  };
}

/** Workers that always have more to send. */
export async function sendSlowly(world: SlowWorld) {
  const { limit, windowMs, callsMs, jitter = 0, tokens, adaptive = false } = world;
  const { tookMs = 80, ms = Math.max(10_000, windowMs) } = world;
  const clock = new ManualClock(1_000);
  const random = seededRandom(7);
  const store = memoryStore({ clock });
  const rule = { limit, windowMs };
  const limits = { [tokens === undefined ? 'requests' : 'tokens']: rule };
  const perMs = limit / windowMs / (tokens ?? 1);
  const concurrency =
    world.concurrency ?? Math.ceil(perMs * (tookMs * 4 + 2_500)) + 20 * callsMs.length;
  const sends: { at: number; cost: number }[] = [];
  const byWorker = callsMs.map(() => 0);
  let calls = 0;
  let isOn = false;
  const limiters = callsMs.map((callMs) => {
    const far = farStore(store, clock, () => {
      if (isOn) calls += 1;
      return callMs * (1 + jitter * (2 * random() - 1));
    });
    return createLimiter({ clock, shared: far, adaptive, concurrency, limits });
  });
  const lane = async (worker: number) => {
    for (;;) {
      await limiters[worker]?.run(
        () => {
          sends.push({ at: clock.now(), cost: tokens ?? 1 });
          if (isOn) byWorker[worker] = (byWorker[worker] ?? 0) + 1;
          return new Promise<void>((done) => clock.setTimer(done, tookMs));
        },
        { tokens: tokens ?? 0 },
      );
    }
  };
  // More than the slots of each, and than it reserves for.
  const lanes = Math.ceil((concurrency + 2_500 * perMs) / callsMs.length) + 20;
  callsMs.forEach((_, worker) => {
    for (let each = 0; each < lanes; each += 1) lane(worker).catch(() => {});
  });
  await clock.advanceAsync(4_000);
  isOn = true;
  const from = clock.now();
  await clock.advanceAsync(ms);
  isOn = false;
  const used = sends.filter(({ at }) => at >= from).reduce((sum, { cost }) => sum + cost, 0);
  for (const limiter of limiters) limiter.close({ waiting: 'reject' });
  return {
    used: used / ((limit * ms) / windowMs),
    most: mostIn(sends, windowMs) / limit,
    fair: jain(byWorker),
    byWorker,
    callsPerS: (calls * 1_000) / ms / callsMs.length,
  };
}
