import { expect, it } from 'vitest';
import { memoryStore } from '../../src/fleet/memory-store.ts';
import { createLimiter } from '../../src/index.ts';
import { ManualClock } from '../../src/simulator/manual-clock.ts';

const EACH_MS = 2_000;

/**
 * When requests are sent that one worker has reserved, and how many calls of the store that takes.
 */
async function sentBy(requests: number, tookMs: number, adaptive: 'rate' | false) {
  const clock = new ManualClock();
  const store = memoryStore({ clock });
  let calls = 0;
  const shared: typeof store = {
    ...store,
    exchange: (request) => {
      calls += 1;
      const reply = store.exchange(request);
      return new Promise((resolve) => clock.setTimer(() => resolve(reply), tookMs));
    },
  };
  const limits = { requests: { limit: 10, windowMs: 10 * EACH_MS } };
  const limiter = createLimiter({ clock, telemetry: false, limits, shared, adaptive });
  const sentAt: number[] = [];
  for (let n = 0; n < requests; n += 1) void limiter.run(async () => sentAt.push(clock.now()));
  for (let step = 0; step < 40 * requests; step += 1) await clock.advanceAsync(EACH_MS / 32);
  limiter.close();
  return { sentAt, callsASecond: calls / ((EACH_MS * requests) / 1_000) };
}

it.each([
  [1, 1, 'rate'],
  [1, 40, 'rate'],
  [3, 1, 'rate'],
  [6, 20, 'rate'],
  [1, 1, false],
  [3, 20, false],
] as const)(
  '%i requests of a worker go when the limit lets them, calls take %i ms, adaptive %s',
  async (requests, tookMs, adaptive) => {
    const { sentAt, callsASecond } = await sentBy(requests, tookMs, adaptive);
    expect(sentAt).toHaveLength(requests);
    for (const [index, at] of sentAt.entries()) {
      const dueAt = EACH_MS * (index + 1);
      expect(at).toBeGreaterThanOrEqual(dueAt);
      expect(at).toBeLessThan(dueAt + 4 * tookMs + 150);
    }
    expect(callsASecond).toBeLessThan(8);
  },
);
