import { expect, it } from 'vitest';
import { memoryStore } from '../../src/fleet/memory-store.ts';
import type { LimiterGroupOptions } from '../../src/index.ts';
import { ManualClock } from '../../src/simulator/manual-clock.ts';
import { mostWithin, Process } from './groups-rig.ts';

function twoProcesses(options: LimiterGroupOptions) {
  const clock = new ManualClock();
  const store = memoryStore({ clock, ttlMs: 2_000 });
  const one = new Process(store, clock, options);
  const other = new Process(store, clock, options);
  const sends = (after: number) =>
    [one, other].flatMap((process) =>
      [...process.sends.values()].flat().filter((at) => at >= after),
    );
  return { clock, one, other, sends };
}

it('a shared limit that one process changes holds for all, raised or lowered', async () => {
  const shared = { requestsPerMinute: 600, concurrency: 4 };
  const { clock, one, other, sends } = twoProcesses({ shared, each: { adaptive: false } });
  for (const process of [one, other]) for (const key of ['a', 'b']) process.send(key, 2_500, 100);
  await clock.advanceAsync(60_000);
  const raised = { requestsPerMinute: 6_000, concurrency: 40 };
  one.group.configure({ shared: raised });
  const raisedAt = clock.now();
  let most = 0;
  for (let step = 0; step < 600; step += 1) {
    await clock.advanceAsync(100);
    most = Math.max(most, one.inFlight + other.inFlight);
  }
  expect(most).toBeLessThanOrEqual(40);
  expect(most).toBeGreaterThan(4);
  expect(mostWithin(sends(raisedAt), 60_000)).toBeLessThanOrEqual(6_000);
  expect(sends(raisedAt).length).toBeGreaterThan(6_000 * 0.95);
  expect(one.group.snapshot().shared?.concurrency?.limit).toBe(40);
  other.group.configure({ shared: { requestsPerMinute: 600 } });
  // Grants of the last 50 ms may still be used.
  await clock.advanceAsync(1_000);
  const loweredAt = clock.now();
  await clock.advanceAsync(60_000);
  expect(mostWithin(sends(loweredAt), 60_000)).toBeLessThanOrEqual(600);
  for (const { group } of [one, other]) group.close({ waiting: 'reject' });
});

it('a limit of each key that one process changes holds for all', async () => {
  const each = { adaptive: false, requestsPerMinute: 60 } as const;
  const { clock, one, other, sends } = twoProcesses({ each });
  for (const process of [one, other]) process.send('a', 1_000, 10);
  await clock.advanceAsync(60_000);
  one.group.configure({ each: { requestsPerMinute: 600 } });
  const changedAt = clock.now();
  await clock.advanceAsync(60_000);
  expect(sends(changedAt).length).toBeGreaterThan(600 * 0.95);
  expect(mostWithin(sends(changedAt), 60_000)).toBeLessThanOrEqual(600);
  for (const { group } of [one, other]) group.close({ waiting: 'reject' });
});

it('a group that is closed and drained calls the store no more when it is changed', async () => {
  const { clock, one } = twoProcesses({ shared: { requestsPerMinute: 600 } });
  one.send('a', 2, 10);
  await clock.advanceAsync(1_000);
  one.group.close();
  await clock.advanceAsync(1_000);
  const { calls } = one;
  one.group.configure({ shared: { requestsPerMinute: 60 }, each: { requestsPerMinute: 60 } });
  await clock.advanceAsync(10_000);
  expect(one.calls).toBe(calls);
  expect(clock.pendingTimers).toBe(0);
});
