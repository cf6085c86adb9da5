import { describe, expect, it } from 'vitest';
import { memoryStore } from '../../src/fleet/memory-store.ts';
import { createLimiter } from '../../src/index.ts';
import { ManualClock } from '../../src/simulator/manual-clock.ts';
import { seededRandom } from '../../src/simulator/random.ts';
import { isLong } from '../support/runs.ts';
import { drawn, StreamingFleet, type Streams } from './streams-rig.ts';

const HEADERS = {
  'x-ratelimit-limit-requests': '100',
  'x-ratelimit-remaining-requests': '40',
  'x-ratelimit-reset-requests': '36s',
};

function meanOf(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

/** Three workers on a limit of 200 a minute. */
function fleetOf(said: Partial<Streams>): StreamingFleet {
  return new StreamingFleet(drawn(1, { perMinute: 200, workers: 3, ...said }));
}

describe('answers that go on for long after their headers, to a fleet', () => {
  it.each(['openai', 'anthropic'] as const)(
    'leave little of a drawn limit unused: headers %s',
    async (headers) => {
      const runs: { readonly use: number; readonly rejections: number }[] = [];
      for (let seed = 1; seed <= (isLong ? 20 : 2); seed += 1) {
        const perMinute = Math.round(50 * (isLong ? 8 : 3) ** seededRandom(seed)());
        const given = { headers, perMinute, algorithm: 'fixed-window' } as const;
        runs.push(await new StreamingFleet(drawn(seed, given)).run(10 * 60_000));
      }
      expect(meanOf(runs.map(({ use }) => use))).toBeGreaterThan(97);
      expect(meanOf(runs.map(({ rejections }) => rejections))).toBeLessThan(0.5);
    },
  );

  it('leave little of a small bucket unused', async () => {
    const given = { headers: 'openai', algorithm: 'token-bucket', perMinute: 52 } as const;
    const { use } = await fleetOf({ ...given, workers: 4, seed: 302 }).run(10 * 60_000);
    expect(use).toBeGreaterThan(97);
  });

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

  it('are heard of soon from a worker that has nothing else to report', async () => {
    const clock = new ManualClock();
    const shared = memoryStore({ clock });
    const [leader, other] = [createLimiter({ clock, shared }), createLimiter({ clock, shared })];
    const rest = (ms: number) => new Promise<void>((done) => clock.setTimer(done, ms));
    let sent = 0;
    const send = () => {
      sent += 1;
      return rest(60_000);
    };
    leader.run(send).catch(() => {});
    await clock.advanceAsync(100);
    const run = other.run(async ({ observe }) => {
      await rest(1_000);
      observe(new Response('', { headers: HEADERS }));
      await rest(60_000);
    });
    run.catch(() => {});
    await clock.advanceAsync(100);
    for (let call = 0; call < 50; call += 1) leader.run(send).catch(() => {});
    await clock.advanceAsync(890);
    expect(sent).toBe(15);
    await clock.advanceAsync(200);
    expect(sent).toBeGreaterThan(30);
    for (const limiter of [leader, other]) limiter.close();
  });
});
