import fc from 'fast-check';
import { describe, it } from 'vitest';
import { LONG_MS, runs } from '../support/runs.ts';
import { stepCount } from '../support/steps.ts';
import { play } from './play.ts';
import { scriptOf } from './setup.ts';

const numRuns = runs(2_000);

async function keepsTheLaws(api: 'limiter' | 'throttle'): Promise<void> {
  const count = stepCount(`laws, ${api}`);
  const law = fc.asyncProperty(scriptOf(api), (script) => {
    count.add(script.steps);
    return play(script);
  });
  await fc.assert(law, { numRuns });
  count.expectEnough();
}

describe('whatever its users do, and whatever the API says', () => {
  it('a limiter keeps the laws', () => keepsTheLaws('limiter'), LONG_MS);

  it('throttle() keeps the laws', () => keepsTheLaws('throttle'), LONG_MS);
});
