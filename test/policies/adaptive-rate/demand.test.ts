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
