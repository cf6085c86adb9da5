import { describe, expect, it } from 'vitest';
import { drawn, StreamingFleet, type Streams } from './streams-rig.ts';

/** Three workers on a limit of 200 a minute. */
function fleetOf(said: Partial<Streams>): StreamingFleet {
  return new StreamingFleet(drawn(1, { perMinute: 200, workers: 3, ...said }));
}

describe('answers that go on for long after their headers, to a fleet', () => {
  it.each(['openai', 'anthropic'] as const)(
    'leave little of a window unused that headers of %s tell of',
    async (headers) => {
      const fleet = fleetOf({ headers, algorithm: 'fixed-window' });
      const { use, rejections } = await fleet.run(15 * 60_000);
      expect(use).toBeGreaterThan(97);
      expect(rejections).toBeLessThan(1);
    },
  );

  it('let the reported rest go at once', async () => {
    const given = { headers: 'openai', algorithm: 'token-bucket' } as const;
    const fleet = fleetOf({ ...given, beginMs: [1_000, 1_000] });
    await fleet.clock.advanceAsync(900);
    expect(fleet.sent).toBe(16);
    // The leader hears of it within two calls.
    await fleet.clock.advanceAsync(300);
    expect(fleet.sent).toBeGreaterThan(100);
    await fleet.run(0);
  });

  it('double the number without an answer when they begin, if they tell nothing', async () => {
    const given = { perMinute: 60_000, beginMs: [1_000, 1_000] } as const;
    const fleet = fleetOf({ algorithm: 'token-bucket', ...given, concurrency: 500 });
    const counts: number[] = [];
    for (let second = 0; second < 4; second += 1) {
      await fleet.clock.advanceAsync(1_200);
      counts.push(fleet.sent);
    }
    expect(counts.slice(0, 3)).toEqual([48, 112, 240]);
    // Each worker keeps free places for its own next requests.
    expect(counts[3]).toBeGreaterThan(450);
    await fleet.run(0);
  });
});
