import { beforeEach, expect, it, vi } from 'vitest';
import { memoryStore } from '../../src/fleet/memory-store.ts';
import { ManualClock } from '../../src/simulator/manual-clock.ts';
import { Worker } from './rig.ts';

beforeEach(() => {
  vi.spyOn(process, 'emitWarning').mockImplementation(() => {});
});

it('the others use the whole rate within 2 s after most workers were killed', async () => {
  const clock = new ManualClock(1_000);
  const shared = memoryStore({ clock });
  const limits = { requests: { limit: 300, windowMs: 6_000 } };
  const options = { adaptive: 'rate', concurrency: 80, limits } as const;
  const workers = Array.from({ length: 12 }, () => new Worker(shared, clock, options));
  for (const worker of workers) worker.send(1_000, 80);
  await clock.advanceAsync(10_000);
  // The first one leads.
  const killed = workers.slice(2);
  const left = workers.slice(0, 2);
  for (const worker of killed) worker.way = 'cut';
  await clock.advanceAsync(2_000);
  const from = clock.now();
  await clock.advanceAsync(2_000);
  const sent = left.flatMap(({ sends }) => sends.filter(({ at }) => at >= from)).length;
  expect(sent).toBeGreaterThanOrEqual(95);
  expect(sent).toBeLessThanOrEqual(101);
});
