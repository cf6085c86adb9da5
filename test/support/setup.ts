import fc from 'fast-check';
import { afterAll, beforeEach, vi } from 'vitest';
import { seededRandom } from '../../src/simulator/random.ts';

/** `npm run test:fresh` draws new cases at each run; `npm test` always draws the same. */
const { TEST_SEED = '1' } = process.env;

fc.configureGlobal({
  // Generate scripts up to their `maxLength`: with the default size of ten steps they find little.
  defaultSizeToMaxWhenMaxSpecified: true,
  ...(TEST_SEED !== 'fresh' && { seed: Number(TEST_SEED) }),
});

// Make jitter repeatable, so that tests do not pass or fail at random.
beforeEach(() => {
  Math.random = seededRandom(1);
});

// Test files share a process: restore what a file has replaced.
afterAll(() => {
  vi.restoreAllMocks();
  vi.unstubAllGlobals();
  vi.unstubAllEnvs();
  vi.useRealTimers();
});
