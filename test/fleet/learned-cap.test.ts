import { expect, it } from 'vitest';
import { memoryStore } from '../../src/fleet/memory-store.ts';
import type { ExchangeRequest } from '../../src/fleet/protocol.ts';
import { createLimiter } from '../../src/index.ts';
import { ManualClock, seededRandom } from '../../src/simulator/index.ts';

const WORKERS = 4;
const ANSWER_MS = 8_000;
const REJECTION_MS = 10;
const CALL_MS = 20;
const START_MS = 600_000;
const RUN_MS = 2_400_000;

/** A fleet at an API that accepts so many requests at once, and tells nothing. */
async function sendAt(cap: number) {
  const clock = new ManualClock(1_000);
  const random = seededRandom(cap);
  const store = memoryStore({ clock });
  const passed = (ms: number) => new Promise<void>((resolve) => clock.setTimer(resolve, ms));
  const exchange = async (request: ExchangeRequest) => {
    await passed(CALL_MS);
    return store.exchange(request);
  };
  let inFlight = 0;
  const counts = { accepted: 0, rejected: 0 };
  const attempt = async () => {
    if (inFlight >= cap) {
      if (clock.now() > START_MS) counts.rejected += 1;
      await passed(REJECTION_MS);
      throw Object.assign(new Error('too many'), { status: 429 });
    }
    inFlight += 1;
    if (clock.now() > START_MS) counts.accepted += 1;
    await passed(ANSWER_MS * (0.8 + 0.4 * random()));
    inFlight -= 1;
  };
  const shared = { ...store, exchange };
  const limiters = Array.from({ length: WORKERS }, (_, seed) =>
    createLimiter({ clock, shared, concurrency: 500, random: seededRandom(seed) }),
  );
  let isOver = false;
  const lane = async (limiter: (typeof limiters)[number]) => {
    while (!isOver) await limiter.run(attempt);
  };
  for (const limiter of limiters) {
    for (let each = 0; each < 2 * cap; each += 1) lane(limiter).catch(() => {});
  }
  await clock.advanceAsync(RUN_MS);
  isOver = true;
  for (const limiter of limiters) limiter.close();
  const most = (cap * (RUN_MS - START_MS)) / ANSWER_MS;
  return { used: counts.accepted / most, rejectedShare: counts.rejected / counts.accepted };
}

// Each probe of the cap was rejected several times, until a plan with the lower cap was heard.
it.each([
  [2, 0.03],
  [20, 0.003],
  [45, 0.003],
])('a fleet keeps to a learned cap of %i', async (cap, mostRejected) => {
  const { used, rejectedShare } = await sendAt(cap);
  expect(used).toBeGreaterThan(0.9);
  expect(rejectedShare).toBeLessThan(mostRejected);
});
