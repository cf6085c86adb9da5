import { expect, it } from 'vitest';
import { Stalls, stalledClock } from '../../../bench/goodput/generated/stalls.ts';
import { ManualClock, seededRandom } from '../../../src/simulator/index.ts';

const TIMES = { stalledMs: 80, runningMs: 20 };

it('stalls for its share of the time', () => {
  const stalls = new Stalls(TIMES, seededRandom(7));
  let stalled = 0;
  for (let at = 0; at < 100_000; at += 1) if (stalls.leftMs(at) > 0) stalled += 1;
  expect(stalled / 100_000).toBeGreaterThan(0.75);
  expect(stalled / 100_000).toBeLessThan(0.85);
});

it('fires timers when the process has a turn, and none that were cancelled', () => {
  const clock = new ManualClock();
  const times = new Stalls(TIMES, seededRandom(3));
  const stalled = stalledClock(clock, new Stalls(TIMES, seededRandom(3)));
  const dueAt = Array.from({ length: 500 }, (_, index) => 7 * index);
  const firedAt: number[] = [];
  for (const at of dueAt) stalled.setTimer(() => firedAt.push(clock.now()), at);
  const timer = stalled.setTimer(() => firedAt.push(-1), 50);
  timer.cancel();
  clock.advanceTo(10_000);
  const expected = dueAt.map((at) => at + times.leftMs(at));
  expect(firedAt).toHaveLength(expected.length);
  firedAt.forEach((at, index) => {
    expect(at).toBeCloseTo(expected[index] ?? Number.NaN, 6);
  });
});
