import fc from 'fast-check';
import { describe, it } from 'vitest';
import { play } from './play.ts';
import { scriptOf } from './setup.ts';

/** A few seconds. `LAWS_RUNS=50000` hunts for what is rare. */
const numRuns = Number(process.env.LAWS_RUNS ?? 2_000);

describe('whatever its users do, and whatever the API says', () => {
  it('a limiter keeps the laws', async () => {
    await fc.assert(fc.asyncProperty(scriptOf('limiter'), play), { numRuns });
  }, 600_000);

  it('throttle() keeps the laws', async () => {
    await fc.assert(fc.asyncProperty(scriptOf('throttle'), play), { numRuns });
  }, 600_000);
});
