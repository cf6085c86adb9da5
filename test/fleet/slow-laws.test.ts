import { beforeEach, describe, expect, it, vi } from 'vitest';
import { memoryStore } from '../../src/fleet/memory-store.ts';
import { ManualClock } from '../../src/simulator/manual-clock.ts';
import { Worker } from './rig.ts';
import { sendSlowly } from './slow-rig.ts';
import { slowStore } from './slow-store.ts';

beforeEach(() => {
  vi.spyOn(process, 'emitWarning').mockImplementation(() => {});
});

const FIFTY = { limit: 300, windowMs: 6_000 };

/** This number of workers whose calls take this time each. */
function each(count: number, callMs: number): number[] {
  return Array.from({ length: count }, () => callMs);
}

describe.each([false, 'rate'] as const)('with `adaptive: %s`', (adaptive) => {
  it.each([
    [1, 50],
    [1, 400],
    [5, 50],
    [5, 100],
    [5, 200],
    [8, 400],
  ])('%i workers use the limit up, though a call takes %i ms', async (workers, callMs) => {
    const { used, most, fair } = await sendSlowly({
      ...FIFTY,
      adaptive,
      callsMs: each(workers, callMs),
    });
    expect(used).toBeGreaterThan(0.97);
    expect(most).toBeLessThanOrEqual(1);
    expect(fair).toBeGreaterThan(0.9);
  });

  it('workers near the store and far from it get equal shares', async () => {
    const { used, most, fair } = await sendSlowly({
      ...FIFTY,
      adaptive,
      callsMs: [1, 200, 1, 200],
    });
    expect(used).toBeGreaterThan(0.97);
    expect(most).toBeLessThanOrEqual(1);
    expect(fair).toBeGreaterThan(0.95);
  });
});

it.each([
  [1, 100],
  [5, 50],
  [5, 200],
  [5, 400],
])(
  'no window of %i workers gets more, where calls take %i ms, and up to 30 %% more or less',
  async (workers, callMs) => {
    const callsMs = each(workers, callMs);
    const { used, most } = await sendSlowly({ limit: 50, windowMs: 1_000, callsMs, jitter: 0.3 });
    expect(used).toBeGreaterThan(0.93);
    expect(most).toBeLessThanOrEqual(1);
  },
);

it('the others use the whole rate within 2.5 s after most workers were killed', async () => {
  const clock = new ManualClock(1_000);
  const shared = slowStore(memoryStore({ clock }), clock, 200);
  const limits = { requests: FIFTY };
  const workers = each(6, 0).map(() => new Worker(shared, clock, { concurrency: 200, limits }));
  for (const worker of workers) worker.send(1_000, 80);
  await clock.advanceAsync(6_000);
  for (const worker of workers.slice(2)) worker.way = 'cut';
  await clock.advanceAsync(2_500);
  const from = clock.now();
  await clock.advanceAsync(2_000);
  const sent = workers.flatMap(({ sends }) => sends.filter(({ at }) => at >= from)).length;
  expect(sent).toBeGreaterThanOrEqual(95);
  expect(sent).toBeLessThanOrEqual(101);
});
