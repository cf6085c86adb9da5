import fc from 'fast-check';
import { describe, it } from 'vitest';
import { LONG_MS, runs } from '../support/runs.ts';
import { play } from './play.ts';
import { scriptOf } from './setup.ts';

const numRuns = runs(2_000);

describe('whatever its users do, and whatever the API says', () => {
  it(
    'a limiter keeps the laws',
    async () => {
      await fc.assert(fc.asyncProperty(scriptOf('limiter'), play), { numRuns });
    },
    LONG_MS,
  );

  it(
    'throttle() keeps the laws',
    async () => {
      await fc.assert(fc.asyncProperty(scriptOf('throttle'), play), { numRuns });
    },
    LONG_MS,
  );
});
