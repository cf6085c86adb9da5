import { describe, expect, it } from 'vitest';
import type { Limiter } from '../../../../src/index.ts';
import { limit, type Rate, SILENT, saturate } from '../../../limiter/adaptive/world.ts';

const PER_SECOND = 10;
const PAUSE_MS = 60_000;
const latency = { meanMs: 300, sigma: 0.3 };

type Run = Awaited<ReturnType<typeof saturate>>;

/** Ways to send nothing for a minute while a request has waited for its turn. */
const pauses = {
  'the limiter is paused': async ({ limiters: [limiter], advance }: Run) => {
    limiter?.pause();
    await advance(PAUSE_MS);
    limiter?.resume();
  },
  'all that waits is dropped': async ({ limiters: [limiter], advance, push }: Run) => {
    limiter?.clear();
    await advance(PAUSE_MS);
    push(100_000);
  },
};

/** The measured rate, in requests per second; 0 if there is none. */
function measured(limiter: Limiter | undefined): number {
  const adaptive = limiter?.snapshot().adaptive;
  return adaptive !== undefined && 'ceilingPerSecond' in adaptive
    ? (adaptive.ceilingPerSecond ?? 0)
    : 0;
}

describe('the learned rate', () => {
  // The provider saves capacity meanwhile, but the time shows nothing about its rate.
  it.each([
    ['token-bucket', 1_000, 20, 'the limiter is paused'],
    ['token-bucket', 1_000, 120, 'the limiter is paused'],
    ['token-bucket', 1_000, 120, 'all that waits is dropped'],
    ['fixed-window', 10_000, 150, 'the limiter is paused'],
  ] satisfies [Rate, number, number, keyof typeof pauses][])(
    'of a %s of %i ms stays what it is where after %i s %s',
    async (algorithm, windowMs, learnedS, pause) => {
      const limits = [limit(algorithm, (PER_SECOND * windowMs) / 1_000, windowMs)];
      const run = await saturate({ provider: { limits, latency, ...SILENT } }, learnedS);
      const [limiter] = run.limiters;
      const learned = measured(limiter);
      expect(learned).toBeGreaterThan(0.9 * PER_SECOND);
      await pauses[pause](run);
      let least = learned;
      for (let seconds = 0; seconds < 90; seconds += 5) {
        await run.advance(5_000);
        least = Math.min(least, measured(limiter));
      }
      expect(least).toBeGreaterThan(0.9 * PER_SECOND);
      await run.end();
    },
  );
});
