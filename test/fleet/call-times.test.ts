import { expect, it } from 'vitest';
import { CallTimes } from '../../src/fleet/call-times.ts';

/** A reply of a store whose clock is 5 s ahead, to a call that took `there` and `back` ms. */
function reply(sentAt: number, there: number, back: number, slowest = 0, run = 1) {
  const storeNow = (sentAt + there + 5_000) * 1_000;
  return { storeNow, run, slowest: slowest * 1_000, sentAt, now: sentAt + there + back };
}

it('amounts that are due are used half of the slowest call later, whatever their reply took', () => {
  const times = new CallTimes();
  expect(times.answered(reply(0, 5, 5))).toBe(0);
  expect(times.answered(reply(100, 5, 5, 200))).toBeCloseTo(95, 0);
  expect(times.answered(reply(200, 5, 65, 200))).toBeCloseTo(35, 0);
  expect(times.answered(reply(300, 5, 165, 200))).toBeCloseTo(-65, 0);
});

it('a single slow call does not change what calls take', () => {
  const times = new CallTimes();
  times.answered(reply(0, 5, 5));
  times.answered(reply(100, 5, 500));
  expect(times.tookMs).toBe(10);
  times.answered(reply(700, 100, 100));
  times.answered(reply(1_000, 100, 100));
  times.answered(reply(1_300, 100, 100));
  expect(times.tookMs).toBe(200);
});

it('a step of the clock and a new store begin anew', () => {
  const times = new CallTimes();
  times.answered(reply(0, 5, 5));
  expect(times.answered({ ...reply(100, 5, 5), storeNow: 3_600_000_000 })).toBe(0);
  expect(times.answered(reply(200, 5, 5, 0, 2))).toBe(0);
});
