import fc from 'fast-check';
import { expect, it } from 'vitest';
import { memoryStore } from '../../src/fleet/memory-store.ts';
import type { ExchangeRequest } from '../../src/fleet/protocol.ts';
import { ManualClock } from '../../src/simulator/manual-clock.ts';
import { runs } from '../support/runs.ts';
import { keepWarnings } from '../support/warnings.ts';
import { Worker } from './rig.ts';

const TTL_MS = 1_000;
const WORKERS = 4;

keepWarnings();

/** Those that send again when a request of theirs ends. */
const sending = new WeakSet<Worker>();

/** Keeps so many more requests waiting or in flight. */
function keepSending(one: Worker, lanes: number, tookMs: number): void {
  sending.add(one);
  one.send(lanes, tookMs, 1, () => {
    if (sending.has(one)) keepSending(one, 1, tookMs);
  });
}

/** What was found: lanes, more, tookMs, backAfterMs of each worker. */
function found(workers: readonly number[][], concurrency: number, awayMs: number) {
  const all = workers.map(([lanes = 0, more = 0, tookMs = 0, backAfterMs = 0]) => {
    return { lanes, more, tookMs, backAfterMs, deafMs: 0 };
  });
  return { workers: all, concurrency, awayMs, forgets: false };
}

/** Workers that go on with their shares while the store is away, and what they have in flight. */
function fleet(concurrency: number) {
  const clock = new ManualClock();
  const settings = { clock, onStoreLoss: 'share', ttlMs: TTL_MS } as const;
  let store = memoryStore(settings);
  const shared = { ...store, exchange: (request: ExchangeRequest) => store.exchange(request) };
  const workers = Array.from({ length: WORKERS }, () => new Worker(shared, clock, { concurrency }));
  const inFlight = () => workers.reduce((sum, worker) => sum + worker.inFlight, 0);
  return {
    clock,
    workers,
    forget: () => {
      store = memoryStore(settings);
    },
    /** @returns the most that is in flight within that time */
    mostFor: async (ms: number) => {
      let most = inFlight();
      for (let at = 0; at < ms; at += 5) {
        await clock.advanceAsync(5);
        most = Math.max(most, inFlight());
      }
      return most;
    },
  };
}

it('a worker that goes on alone gives up what is above its share at once, and has what is missing after a lease', async () => {
  const { clock, workers } = fleet(8);
  const [large, ...small] = workers as [Worker, ...Worker[]];
  large.send(5_000, 40);
  for (const one of small) keepSending(one, 1, 40);
  await clock.advanceAsync(3 * TTL_MS);
  expect(workers.map(({ inFlight }) => inFlight)).toEqual([5, 1, 1, 1]);
  for (const one of workers) one.way = 'cut';
  for (const one of small) keepSending(one, 1, 40);
  await clock.advanceAsync(TTL_MS - 100);
  expect(workers.map(({ inFlight }) => inFlight)).toEqual([2, 1, 1, 1]);
  await clock.advanceAsync(600);
  expect(workers.map(({ inFlight }) => inFlight)).toEqual([2, 2, 2, 2]);
});

it('a worker that is back later than the others may get its share meanwhile, from a loss of half a lease on', async () => {
  for (const awayMs of [0.55 * TTL_MS, 0.75 * TTL_MS, 0.95 * TTL_MS]) {
    const { clock, workers, mostFor } = fleet(8);
    const [late, ...others] = workers as [Worker, ...Worker[]];
    keepSending(late, 1, 40);
    for (const one of others) keepSending(one, 5, 40);
    await clock.advanceAsync(TTL_MS);
    expect(late.inFlight).toBe(1);
    for (const one of workers) one.way = 'cut';
    keepSending(late, 7, 40);
    await clock.advanceAsync(awayMs);
    for (const one of others) one.way = 'open';
    await clock.advanceAsync(TTL_MS + 300 - awayMs);
    expect(workers.map(({ inFlight }) => inFlight)).toEqual([2, 2, 2, 2]);
    late.way = 'open';
    expect(await mostFor(TTL_MS)).toBe(8);
  }
});

it('requests above the share of a worker that last longer than a lease come on top of the shares until they end', async () => {
  const { clock, workers } = fleet(8);
  const [large, ...small] = workers as [Worker, ...Worker[]];
  for (const one of small) keepSending(one, 1, 40);
  await clock.advanceAsync(TTL_MS);
  large.send(5_000, 4 * TTL_MS);
  await clock.advanceAsync(TTL_MS);
  for (const one of workers) one.way = 'cut';
  for (const one of small) keepSending(one, 7, 40);
  await clock.advanceAsync(TTL_MS - 100);
  expect(workers.map(({ inFlight }) => inFlight)).toEqual([5, 1, 1, 1]);
  await clock.advanceAsync(600);
  expect(workers.map(({ inFlight }) => inFlight)).toEqual([5, 2, 2, 2]);
  await clock.advanceAsync(2 * TTL_MS);
  expect(workers.map(({ inFlight }) => inFlight)).toEqual([2, 2, 2, 2]);
});

it('a worker whose lease ended before it knew of the loss keeps its whole share as its requests end', async () => {
  const { clock, workers } = fleet(8);
  // Between calls, 250 ms apart, nothing changes: the lease ends before the next call is too slow.
  for (const one of workers) {
    one.send(1, 4 * TTL_MS);
    one.send(1, 850);
  }
  await clock.advanceAsync(310);
  for (const one of workers) one.way = 'kept';
  await clock.advanceAsync(700);
  expect(workers.map(({ inFlight }) => inFlight)).toEqual([1, 1, 1, 1]);
  for (const one of workers) {
    one.way = 'cut';
    keepSending(one, 2, 40);
  }
  for (const ms of [2 * TTL_MS, 2 * TTL_MS]) {
    await clock.advanceAsync(ms);
    expect(workers.map(({ inFlight }) => inFlight)).toEqual([2, 2, 2, 2]);
  }
});

it('workers that go on alone have no more in flight than all may, as they begin, and as they are back', async () => {
  const worker = fc.record({
    /**
     * How many requests it has at a time, and how many more as the store is away and after that.
     */
    lanes: fc.integer({ min: 1, max: 8 }),
    more: fc.nat({ max: 8 }),
    tookMs: fc.integer({ min: 5, max: TTL_MS / 2 }),
    /** So long the calls still arrive, and the answers are lost. */
    deafMs: fc.constantFrom(0, 0, 5, 30),
    /** After the store has come back. */
    backAfterMs: fc.nat({ max: TTL_MS / 2 }),
  });
  const scenario = fc.record({
    workers: fc.array(worker, { minLength: WORKERS, maxLength: WORKERS }),
    concurrency: fc.integer({ min: WORKERS, max: 14 }),
    awayMs: fc.integer({ min: 10, max: 4 * TTL_MS }),
    forgets: fc.boolean(),
  });
  const examples = [
    // Those that hold less than their share had it at once, those that hold more kept it.
    found(
      [
        [1, 0, 5],
        [1, 1, 6, 201],
        [1, 2, 6],
        [1, 2, 5],
      ],
      8,
      10,
    ),
    // As the store came back, the call that had failed told what was held before.
    found(
      [
        [4, 0, 5],
        [1, 0, 84],
        [1, 1, 59],
        [2, 0, 5],
      ],
      8,
      796,
    ),
    // One comes back after the others.
    found(
      [
        [1, 0, 5, 261],
        [1, 1, 6, 109],
        [1, 2, 6, 109],
        [1, 3, 5, 41],
      ],
      8,
      756,
    ),
    // The store comes back with its data, and lends what it does not know to be held.
    found(
      [
        [1, 0, 5],
        [5, 0, 5],
        [1, 1, 5],
        [3, 0, 83],
      ],
      10,
      3_551,
    ),
    // It comes back with its data, and lends a worker more than that has, while others still have
    // more.
    found(
      [
        [1, 2, 5],
        [4, 1, 65],
        [3, 0, 5],
        [1, 2, 5],
      ],
      12,
      1_546,
    ),
    // The call that is repeated as it comes back told what was held before.
    found(
      [
        [1, 0, 5],
        [1, 1, 5, 241],
        [6, 1, 5, 1],
        [1, 0, 5],
      ],
      8,
      2_481,
    ),
  ].map((example): [typeof example] => [example]);
  await fc.assert(
    fc.asyncProperty(scenario, async ({ workers, concurrency, awayMs, forgets }) => {
      const { clock, workers: all, mostFor, forget } = fleet(concurrency);
      const each = all.map((one, index) => ({ one, ...(workers[index] as (typeof workers)[0]) }));
      for (const { one, lanes, tookMs } of each) keepSending(one, lanes, tookMs);
      expect(await mostFor(3 * TTL_MS)).toBeLessThanOrEqual(concurrency);
      for (const { one, deafMs } of each) {
        one.way = 'deaf';
        clock.setTimer(
          () => {
            if (one.way === 'deaf') one.way = 'cut';
          },
          Math.min(deafMs, awayMs),
        );
      }
      for (const { one, more, tookMs } of each) keepSending(one, more, tookMs);
      expect(await mostFor(awayMs)).toBeLessThanOrEqual(concurrency);
      if (forgets) forget();
      for (const { one, backAfterMs } of each.toSorted((a, b) => a.backAfterMs - b.backAfterMs)) {
        expect(await mostFor(backAfterMs / WORKERS)).toBeLessThanOrEqual(concurrency);
        one.way = 'open';
      }
      expect(await mostFor(4 * TTL_MS)).toBeLessThanOrEqual(concurrency);
      for (const { one } of each) sending.delete(one);
      await clock.advanceAsync(10 * TTL_MS);
      expect(all.map(({ limiter }) => limiter.snapshot().waiting)).toEqual(all.map(() => 0));
    }),
    { numRuns: runs(20), examples },
  );
});

it.each([
  ['calls fail', 'cut', 'pause'],
  ['answers are lost', 'deaf', 'pause'],
  ['calls fail, and it goes on alone', 'cut', 'share'],
] as const)(
  'a backoff ends in time for all workers where %s meanwhile',
  async (_, way, onStoreLoss) => {
    const clock = new ManualClock();
    const store = memoryStore({ clock, onStoreLoss });
    const options = { concurrency: 10, backoff: { reopen: 'all' } } as const;
    const workers = [0, 1].map(() => new Worker(store, clock, options)) as [Worker, Worker];
    const [one, other] = workers;
    for (const worker of workers) worker.send(1, 10);
    await clock.advanceAsync(1_000);
    const sent: number[] = [];
    void one.limiter.run(async () => {
      sent.push(clock.now());
      if (sent.length > 1) return;
      one.way = way;
      throw Object.assign(new Error('busy'), { status: 429, headers: { 'retry-after': '10' } });
    });
    await clock.advanceAsync(8_000);
    one.way = 'open';
    await clock.advanceAsync(1_000);
    other.send(1, 10);
    await clock.advanceAsync(20_000);
    expect(sent).toEqual([1_000, expect.closeTo(11_000, -2)]);
    expect(other.sends.at(-1)?.at).toBeCloseTo(11_000, -2);
    for (const { limiter } of workers) limiter.close();
  },
);

it.each([
  ['a backoff', 429],
  ['an open circuit', 500],
])('%s holds for a worker that joins after the store has lost its data', async (_, status) => {
  const clock = new ManualClock();
  let store = memoryStore({ clock });
  const shared = { ...store, exchange: (request: ExchangeRequest) => store.exchange(request) };
  const circuitBreaker = { consecutiveFailures: 1, openMs: 20_000, onOpen: 'wait' } as const;
  const options = { backoff: { reopen: 'all' }, circuitBreaker } as const;
  const first = new Worker(shared, clock, options);
  const lease = await first.limiter.acquire();
  const headers = { 'retry-after': '20' };
  lease.release('failed', Object.assign(new Error('no'), { status, headers }));
  await clock.advanceAsync(3_000);
  store = memoryStore({ clock });
  first.send(1, 10);
  await clock.advanceAsync(3_000);
  const joined = new Worker(shared, clock, options);
  joined.send(1, 10);
  await clock.advanceAsync(30_000);
  expect(joined.sends.map(({ at }) => at)).toEqual([expect.closeTo(20_000, -2)]);
  for (const { limiter } of [first, joined]) limiter.close();
});
