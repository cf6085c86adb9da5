import { expect, it } from 'vitest';
import { memoryStore } from '../../src/fleet/memory-store.ts';
import { ManualClock } from '../../src/simulator/manual-clock.ts';
import { keepWarnings } from '../support/warnings.ts';
import { Worker } from './rig.ts';

const HOUR_MS = 3_600_000;

keepWarnings();

/** A worker that has sent, and counts how often its store has forgotten everything. */
async function worker(keepMs?: number) {
  const clock = new ManualClock();
  const store = memoryStore({ clock, ...(keepMs !== undefined && { keepMs }) });
  const one = new Worker(store, clock, { requestsPerMinute: 600, concurrency: 5 });
  let forgotten = 0;
  one.limiter.events$.subscribe(({ kind }) => {
    if (kind === 'storeForgot') forgotten += 1;
  });
  one.send(5, 100);
  await clock.advanceAsync(2_000);
  return { clock, store, one, forgotten: () => forgotten };
}

it('a store knows a key after a pause of hours, and forgets it after a day', async () => {
  const { clock, one, forgotten } = await worker();
  await clock.advanceAsync(23 * HOUR_MS);
  one.send(1, 100);
  await clock.advanceAsync(1_000);
  expect(forgotten()).toBe(0);
  // The last call was that for this request.
  await clock.advanceAsync(23 * HOUR_MS);
  one.send(1, 100);
  await clock.advanceAsync(1_000);
  expect(forgotten()).toBe(0);
  await clock.advanceAsync(24 * HOUR_MS + 1_000);
  one.send(1, 100);
  await clock.advanceAsync(2_000);
  expect(forgotten()).toBe(1);
  expect(one.sends).toHaveLength(8);
});

it('keepMs is how long', async () => {
  const { clock, one, forgotten } = await worker(10_000);
  await clock.advanceAsync(7_000);
  one.send(1, 100);
  await clock.advanceAsync(11_000);
  expect(forgotten()).toBe(0);
  one.send(1, 100);
  await clock.advanceAsync(1_000);
  expect(forgotten()).toBe(1);
});

it('a request in flight keeps the key, however long it takes', async () => {
  const { clock, one, forgotten } = await worker(10_000);
  one.send(1, 60_000);
  await clock.advanceAsync(65_000);
  one.send(1, 100);
  await clock.advanceAsync(1_000);
  expect(forgotten()).toBe(0);
});

it('a wait that the provider has named is not forgotten before it is over', async () => {
  const { clock, store, one } = await worker(10_000);
  one.limiter.feedback.next({ kind: 'throttled', retryAfterMs: 300_000 });
  await clock.advanceAsync(1_000);
  one.limiter.close({ waiting: 'reject' });
  await clock.advanceAsync(200_000);
  const next = new Worker(store, clock, { requestsPerMinute: 600, concurrency: 5 });
  next.send(1, 100);
  await clock.advanceAsync(90_000);
  expect(next.sends).toEqual([]);
  await clock.advanceAsync(12_000);
  expect(next.sends).toHaveLength(1);
});

it('must be as long as a lease at least', () => {
  expect(() => memoryStore({ keepMs: 4_999 })).toThrow(
    '`keepMs` must be an integer >= 5000, got 4999',
  );
  expect(() => memoryStore({ ttlMs: 1_000, keepMs: Number.NaN })).toThrow('`keepMs` must be');
});
