import { expect, it } from 'vitest';
import { DriftingRate } from '../../../../src/policies/adaptive-rate/reported/drifting-rate.ts';

it('is raised to the rate of the whole limit, and not before that is told', () => {
  const rate = new DriftingRate();
  rate.raise();
  expect(rate.perMs).toBeUndefined();
  rate.told(0.1, 0.02, 0);
  expect(rate.perMs).toBe(0.02);
  rate.raise();
  expect(rate.perMs).toBe(0.1);
});
