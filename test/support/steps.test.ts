import { expect, it } from 'vitest';
import { isLong, LONGER, runs } from './runs.ts';
import { LEAST_STEPS } from './steps.ts';

it('all fuzzers together play as many steps as are promised', () => {
  const steps = Object.values(LEAST_STEPS).reduce((sum, least) => sum + least, 0);
  expect(steps).toBeGreaterThanOrEqual(300_000);
  expect(steps * LONGER).toBeGreaterThanOrEqual(10_000_000);
  expect(runs(steps)).toBe(isLong ? steps * LONGER : steps);
});
