import { describe, expect, it } from 'vitest';
import { keepWarnings } from '../support/warnings.ts';
import { drawn, StreamingFleet, type Streams } from './streams-rig.ts';

keepWarnings();

const MINUTE_MS = 60_000;

/** Six workers on an API that takes 3 s to answer. */
function fleetOf(said: Partial<Streams>): StreamingFleet {
  const answers = { beginMs: [3_000, 3_100], streamMs: [1, 2] } as const;
  return new StreamingFleet(drawn(7, { workers: 6, ...answers, ...said }));
}

describe('a limit that was used up', () => {
  // 14 of 100 were rejected: the store had saved up a burst while the API was closed, a cap was learned
  // from the first rejections, and the rate grew by seconds where a window is a minute.
  it.each(['sliding-window', 'fixed-window'] as const)(
    'is not exceeded at once when it opens again, though nothing is told: %s',
    async (algorithm) => {
      let [rejected, begun] = [0, 0];
      for (const perMinute of [90, 134, 200]) {
        const fleet = fleetOf({ algorithm, perMinute });
        await fleet.clock.advanceAsync(MINUTE_MS);
        const [rejectedBefore, begunBefore] = [fleet.rejected, fleet.begun.length];
        await fleet.run(9 * MINUTE_MS);
        rejected += fleet.rejected - rejectedBefore;
        begun += fleet.begun.length - begunBefore;
      }
      expect(begun).toBeGreaterThan(3_000);
      expect(rejected / begun).toBeLessThan(0.035);
    },
  );

  // 332 of 632 were rejected: each worker sent all that its slots permit.
  it.each(['openai', 'anthropic'] as const)(
    'is kept by workers that go on alone, though all of a window may go at once: %s',
    async (headers) => {
      const away = [110_000, 170_000] as const;
      const fleet = fleetOf({ algorithm: 'fixed-window', headers, perMinute: 100, away });
      await fleet.run(3 * MINUTE_MS);
      expect(fleet.begun.length).toBeGreaterThan(280);
      expect(fleet.rejected).toBeLessThan(20);
    },
  );
});
