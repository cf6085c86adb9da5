import { beforeEach, expect, it, vi } from 'vitest';
import { memoryStore } from '../../src/fleet/memory-store.ts';
import { createLimiter, type LimiterOptions } from '../../src/index.ts';
import { ManualClock } from '../../src/simulator/manual-clock.ts';
import { seededRandom } from '../../src/simulator/random.ts';
import { mostIn } from './rig.ts';

beforeEach(() => {
  vi.spyOn(process, 'emitWarning').mockImplementation(() => {});
});

/** Each worker's requests that wait or are in flight. */
const LANES = 20;
const TOOK_MS = 500;

interface Size {
  readonly bytes?: number;
  readonly weight?: number;
}

/** Workers that always have more to send. */
async function run(count: number, options: LimiterOptions, sizeOf: () => Size, ms: number) {
  const clock = new ManualClock();
  const store = memoryStore({ clock });
  const random = seededRandom(7);
  const sends: { readonly at: number; readonly cost: number }[] = [];
  const counts = new Array<number>(count).fill(0);
  let inFlight = 0;
  let most = 0;
  let isOn = true;
  const lane = async (limiter: ReturnType<typeof createLimiter>, place: number) => {
    while (isOn) {
      const size = sizeOf();
      const amount = size.bytes ?? size.weight ?? 1;
      const attempt = () =>
        new Promise<void>((done) => {
          sends.push({ at: clock.now(), cost: 1 });
          counts[place] = (counts[place] as number) + 1;
          inFlight += amount;
          most = Math.max(most, inFlight);
          const end = () => {
            inFlight -= amount;
            done();
          };
          clock.setTimer(end, TOOK_MS * (0.5 + random()));
        });
      await limiter.run(attempt, size);
    }
  };
  const limiters = Array.from({ length: count }, () =>
    createLimiter({ adaptive: false, clock, ...options, shared: memoryStoreOf(store, clock) }),
  );
  limiters.forEach((limiter, place) => {
    for (let each = 0; each < LANES; each += 1) void lane(limiter, place);
  });
  let area = 0;
  for (let at = 0; at < ms; at += 10) {
    await clock.advanceAsync(10);
    area += inFlight * 10;
  }
  isOn = false;
  for (const limiter of limiters) limiter.close();
  return { sends, counts, most, mean: area / ms };
}

/** The store behind a network: a reply comes 1 ms after its call. */
function memoryStoreOf(store: ReturnType<typeof memoryStore>, clock: ManualClock) {
  return {
    ...store,
    exchange: (request: Parameters<typeof store.exchange>[0]) =>
      new Promise<Awaited<ReturnType<typeof store.exchange>>>((resolve, reject) => {
        const copy = structuredClone(request);
        clock.setTimer(async () => {
          try {
            resolve(structuredClone(await store.exchange(copy)));
          } catch (error) {
            reject(error);
          }
        }, 1);
      }),
  };
}

it('requests larger than the share of a worker in the bytes use all of them, and one more at most', async () => {
  for (const count of [2, 4, 8]) {
    const random = seededRandom(count);
    const sizeOf = () => ({ bytes: Math.round(1_000 * (0.2 + 1.6 * random())) });
    for (const maxBytes of [2_000, 6_700]) {
      const { mean, most } = await run(count, { maxBytes }, sizeOf, 20_000);
      const told = `${count} workers, ${maxBytes} bytes`;
      expect(mean, told).toBeGreaterThan(0.9 * maxBytes);
      expect(most, told).toBeLessThanOrEqual(maxBytes + 1_800);
    }
  }
});

it('requests of equal size use the bytes that no share is enough for', async () => {
  const { mean } = await run(4, { maxBytes: 5_000 }, () => ({ bytes: 1_000 }), 20_000);
  expect(mean).toBeGreaterThan(0.95 * 5_000);
});

it('requests of more slots than the share of a worker use all slots, no more, and in turn', async () => {
  for (const [count, concurrency, weight] of [
    [8, 16, 4],
    [3, 16, 16],
    [2, 16, 9],
    [4, 9, 3],
  ] as const) {
    const { mean, most, counts } = await run(count, { concurrency }, () => ({ weight }), 20_000);
    const told = `${count} workers, ${concurrency} slots, ${weight} each: ${counts}`;
    const usable = concurrency - (concurrency % weight);
    expect(mean, told).toBeGreaterThan(0.9 * usable);
    expect(most, told).toBeLessThanOrEqual(concurrency);
    // They take turns.
    expect(Math.max(...counts), told).toBeLessThan(1.5 * Math.min(...counts));
  }
});

it('workers that wait for bytes or slots let no window exceed a rate limit, and lose none of its time', async () => {
  const random = seededRandom(3);
  const limits = { requests: { limit: 20, windowMs: 20_000 } };
  const faster = { requests: { limit: 30, windowMs: 20_000 } };
  const ofBytes = () => ({ bytes: Math.round(1_000 * (0.2 + 1.6 * random())) });
  const ofSlots = () => ({ weight: random() < 0.5 ? 3 : 5 });
  for (const [options, sizeOf, limit] of [
    [{ maxBytes: 2_000, limits }, ofBytes, 20],
    [{ concurrency: 12, limits }, ofSlots, 20],
    [{ concurrency: 6, limits: faster }, ofSlots, 30],
  ] as const) {
    const { sends } = await run(8, options, sizeOf, 60_000);
    expect(mostIn(sends, 20_000)).toBeLessThanOrEqual(limit);
    expect(sends.length).toBeGreaterThan(0.95 * (3 * limit - 1));
  }
});

/** Three workers that share slots and bytes send requests. @returns how many ended */
async function ended(
  limits: LimiterOptions,
  requests: readonly (readonly [
    worker: number,
    afterMs: number,
    weight: number,
    bytes: number,
    tookMs: number,
  ])[],
): Promise<number> {
  const clock = new ManualClock();
  const shared = memoryStore({ clock });
  const limiters = [0, 1, 2].map(() =>
    createLimiter({ adaptive: false, clock, shared, ...limits }),
  );
  let count = 0;
  for (const [worker, afterMs, weight, bytes, tookMs] of requests) {
    await clock.advanceAsync(afterMs);
    const task = () => new Promise<void>((done) => clock.setTimer(done, tookMs));
    void limiters[worker]?.run(task, { weight, bytes }).then(() => {
      count += 1;
    });
  }
  await clock.advanceAsync(5_000);
  return count;
}

it('a worker without slots does not hold the bytes that another one waits for', async () => {
  const limits = { concurrency: 4, maxBytes: 200 };
  const requests = [
    [0, 0, 3, 100, 17],
    [1, 12, 3, 500, 18],
    [0, 9, 2, 300, 33],
  ] as const;
  expect(await ended(limits, requests)).toBe(3);
});

it('a request that gets its bytes keeps its slots, though another worker waits for them', async () => {
  const limits = { concurrency: 5, maxBytes: 272 };
  const requests = [
    [0, 0, 1, 564, 87],
    [1, 36, 3, 553, 57],
    [0, 12, 4, 572, 465],
    [0, 0, 1, 48, 218],
    [1, 9, 3, 12, 177],
  ] as const;
  expect(await ended(limits, requests)).toBe(5);
});

it('a worker gives back the slots and the bytes of which it has too few', async () => {
  const limits = { concurrency: 8, maxBytes: 52 };
  const requests = [
    [0, 0, 2, 351, 385],
    [2, 14, 3, 4, 425],
    [1, 0, 4, 99, 470],
    [0, 18, 3, 295, 76],
  ] as const;
  expect(await ended(limits, requests)).toBe(4);
});
