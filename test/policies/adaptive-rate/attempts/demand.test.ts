import { describe, expect, it } from 'vitest';
import { Demand } from '../../../../src/policies/adaptive-rate/attempts/demand.ts';

const STEP_MS = 100;

function demanding(): Demand {
  return new Demand({ accepted: 0, firstAt: 0 });
}

describe('what goes before the pace lets it go', () => {
  it('goes by what was saved until the pace has made up for all of a burst', () => {
    const demand = demanding();
    // The pace has been ahead for a second: three go at once.
    for (let n = 0; n < 3; n += 1) demand.saves(-1_000 + n * STEP_MS, STEP_MS, 0);
    expect([0, 250, 299].map((now) => demand.isEarly(now))).toEqual([true, true, true]);
    expect(demand.isEarly(300)).toBe(false);
  });

  it('is the pace again when all that was saved has gone', () => {
    const demand = demanding();
    demand.saves(-1_000, STEP_MS, 0);
    demand.saves(STEP_MS, STEP_MS, 0);
    expect(demand.isEarly(0)).toBe(false);
  });

  it('goes on while results alone are awaited', () => {
    const demand = demanding();
    demand.saves(-1_000, STEP_MS, 0);
    expect(demand.usableMs(250)).toBe(250);
    demand.waits(STEP_MS, false);
    expect(demand.usableMs(250)).toBe(Number.POSITIVE_INFINITY);
    demand.waits(STEP_MS, true);
    expect(demand.usableMs(250)).toBe(0);
  });
});

it('leaves the time without demand before a first rejection out of the intervals', () => {
  const demand = new Demand({ accepted: 4, firstAt: 1_000, idleMs: 60_000 });
  demand.add(69_000);
  expect(demand.intervalMs).toBe(2_000);
  expect(demand.meanMs(73_000)).toBe(3_000);
});

it('counts intervals from the first accepted attempt on', () => {
  const demand = demanding();
  for (const at of [0, 600_000, 600_100, 600_200]) demand.add(at);
  expect(demand.intervalMs).toBe(0);
  for (const at of [600_000, 600_100]) demand.accepted(at);
  expect(demand.intervalMs).toBe(100);
  expect(demand.meanMs(600_400)).toBe(200);
});

describe('time without demand', () => {
  const INTERVAL_MS = 1_000;

  /** The time without demand before a request that had to wait until 100 ms. */
  function idleAt(now: number, waitsUntil = 100): number {
    const demand = demanding();
    demand.add(0);
    demand.hasWaited = true;
    demand.waitsUntil = waitsUntil;
    demand.endWait(INTERVAL_MS, now);
    return demand.idleMs(50, STEP_MS, INTERVAL_MS, now);
  }

  it.each([
    ['nothing, if it is sent when it may', 100, 0],
    ['nothing, if a busy process is a second late', 1_100, 0],
    ['nothing, if it is four intervals late', 4_100, 0],
    ['all of a pause', 60_100, 60_000],
  ])('of a request that had to wait is %s', (_what, now, idleMs) => {
    expect(idleAt(now)).toBe(idleMs);
  });

  it('is not the time in which a request waits for a result', () => {
    expect(idleAt(60_100, Number.POSITIVE_INFINITY)).toBe(0);
  });

  it('is known of a request that has not waited, whatever the one before waited for', () => {
    const demand = demanding();
    demand.waitsUntil = Number.POSITIVE_INFINITY;
    demand.add(0);
    expect(demand.idleMs(0, STEP_MS, INTERVAL_MS, 60_000)).toBe(60_000);
  });

  it('makes the next request new demand, which has not waited for the pace', () => {
    const demand = demanding();
    Object.assign(demand, { isPaced: true, hasWaited: true, isHeld: true, waitsUntil: 100 });
    demand.endWait(INTERVAL_MS, 4_100);
    expect(demand).toMatchObject({ isPaced: true, hasWaited: true, isHeld: true });
    demand.endWait(INTERVAL_MS, 4_101);
    expect(demand).toMatchObject({ isPaced: false, hasWaited: false, isHeld: false });
  });
});
