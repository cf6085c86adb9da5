import fc from 'fast-check';
import { describe, it } from 'vitest';
import { play } from './play.ts';
import { scriptOf } from './setup.ts';

/** Enough to break any one law that the library has been seen to break. */
const numRuns = Number(process.env.LAWS_RUNS ?? 800);

describe('whatever its users do, and whatever the API says', () => {
  it('a limiter keeps the laws', async () => {
    await fc.assert(fc.asyncProperty(scriptOf('limiter'), play), { numRuns });
  });

  it('throttle() keeps the laws', async () => {
    await fc.assert(fc.asyncProperty(scriptOf('throttle'), play), { numRuns });
  });
});
