import { expect } from 'vitest';
import { runs } from './runs.ts';

/**
 * The least number of generated steps that each fuzzer plays in `npm test`: the counted number
 * minus four standard deviations, since other seeds draw scripts of other lengths.
 */
export const LEAST_STEPS = {
  'laws, limiter': 35_000,
  'laws, throttle': 35_000,
  hostile: 10_000,
  'chain at rest, probe': 33_500,
  'chain at rest, all': 33_500,
  'chain to the end, probe': 53_000,
  'chain to the end, all': 53_000,
  reentry: 34_000,
  order: 24_500,
  'shared limits, in order': 4_600,
  'shared limits, by priority': 4_600,
  'shared limits, that fail': 4_600,
} as const;

/** Counts the steps that a fuzzer plays. */
export function stepCount(fuzzer: keyof typeof LEAST_STEPS) {
  let count = 0;
  return {
    add: (steps: readonly unknown[]) => {
      count += steps.length;
    },
    /** Called if no script has failed: shrinking a failed script adds steps. */
    expectEnough: () => expect(count, fuzzer).toBeGreaterThanOrEqual(runs(LEAST_STEPS[fuzzer])),
  };
}
