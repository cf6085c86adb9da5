import { expect, it } from 'vitest';
import { CallTimes } from '../../src/fleet/call-times.ts';
import { newFleetState } from '../../src/fleet/model/fleet-state.ts';
import { tookTime } from '../../src/fleet/model/rate-grants.ts';
import type { ExchangeRequest } from '../../src/fleet/protocol.ts';

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

it('a store that answers within a millisecond delays nothing', () => {
  const times = new CallTimes();
  expect(times.answered(reply(0, 0.2, 0.2, 1))).toBe(0);
});

it('what the slowest calls take is forgotten when calls are fast again, by 1 % of the time', () => {
  const state = newFleetState();
  const call = (now: number, took: number) => {
    state.now = now;
    tookTime(state, { took } as ExchangeRequest);
    return state.slowest;
  };
  expect(call(1_000_000, 200_000)).toBe(200_000);
  expect(call(3_000_000, 5_000)).toBe(180_000);
  expect(call(60_000_000, 5_000)).toBe(5_000);
  expect(call(61_000_000, 3_000_000)).toBe(400_000);
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

it('a step of the clock begins anew', () => {
  const times = new CallTimes();
  times.answered(reply(0, 5, 5));
  expect(times.answered({ ...reply(100, 5, 5), storeNow: 3_600_000_000 })).toBe(0);
});

it('a new store begins anew, though its clock is within the bounds of the old one', () => {
  const times = new CallTimes();
  times.answered(reply(0, 5, 5));
  const next = reply(100, 5, 5, 0, 2);
  expect(times.answered({ ...next, storeNow: next.storeNow + 4_000 })).toBe(0);
});
