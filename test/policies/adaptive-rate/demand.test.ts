import { describe, expect, it } from 'vitest';
import { Demand } from '../../../src/policies/adaptive-rate/demand.ts';

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
    expect(demand.goesOn).toBe(false);
    demand.hasWaited = true;
    expect(demand.goesOn).toBe(true);
    demand.isHeld = true;
    expect(demand.goesOn).toBe(false);
  });
});

describe('time without demand', () => {
  it.each([
    ['nothing, if it is sent when it may', 100, 0],
    ['nothing, if a busy process is a second late', 1_100, 0],
    ['nothing, if it is four intervals late', 4_100, 0],
    ['all of a pause', 60_100, 60_000],
  ])('of a request that waited 100 ms is %s', (_what, now, idleMs) => {
    const demand = demanding();
    demand.add(0);
    demand.hasWaited = true;
    demand.waitsUntil = 100;
    expect(demand.idleMs(100, STEP_MS, 1_000, now)).toBe(idleMs);
  });

  it('is not the time in which a request waits for a result', () => {
    const demand = demanding();
    demand.add(0);
    demand.hasWaited = true;
    expect(demand.idleMs(100, STEP_MS, 1_000, 60_100)).toBe(0);
  });
});
