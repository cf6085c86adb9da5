import fc from 'fast-check';
import { afterAll, beforeEach, vi } from 'vitest';
import { seededRandom } from '../../src/simulator/random.ts';

/** `npm run test:fresh` draws new cases at each run; `npm test` repeats the same ones. */
const { TEST_SEED = '1' } = process.env;

fc.configureGlobal({
  // Generated scripts are as long as their `maxLength` says; ten steps, the default, find little.
  defaultSizeToMaxWhenMaxSpecified: true,
  ...(TEST_SEED !== 'fresh' && { seed: Number(TEST_SEED) }),
});

// Jitter is chance: a test that passes with one draw and fails with another tells nothing.
beforeEach(() => {
  Math.random = seededRandom(1);
});

// Files follow each other in one process: what one of them replaces is not there for the next.
afterAll(() => {
  vi.restoreAllMocks();
  vi.unstubAllGlobals();
  vi.unstubAllEnvs();
  vi.useRealTimers();
});
