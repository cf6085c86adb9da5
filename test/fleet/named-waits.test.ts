import { expect, it } from 'vitest';
import { memoryStore } from '../../src/fleet/memory-store.ts';
import { createLimiter } from '../../src/index.ts';
import { ManualClock, seededRandom } from '../../src/simulator/index.ts';

const WORKERS = 4;
const ANSWER_MS = 400;
const RUN_MS = 1_800_000;

/** A fleet at an API with a sliding window, whose rejections name this multiple of the true wait. */
async function usedOf(limit: number, windowMs: number, factor: number): Promise<number> {
  const clock = new ManualClock(1_000);
  const shared = memoryStore({ clock });
  const accepted: number[] = [];
  const passed = () => new Promise<void>((resolve) => clock.setTimer(resolve, ANSWER_MS));
  const attempt = async () => {
    const now = clock.now();
    const waitMs = (accepted.at(-limit) ?? Number.NEGATIVE_INFINITY) + windowMs - now;
    if (waitMs <= 0) accepted.push(now);
    await passed();
    if (waitMs <= 0) return;
    const retryAfter = `${(waitMs * factor) / 1_000}`;
    throw Object.assign(new Error('too many'), {
      status: 429,
      headers: { 'retry-after': retryAfter },
    });
  };
  const limiters = Array.from({ length: WORKERS }, (_, seed) =>
    createLimiter({ clock, shared, random: seededRandom(seed), maxRetryAfterMs: RUN_MS }),
  );
  let isOver = false;
  const lane = async (limiter: (typeof limiters)[number]) => {
    while (!isOver) await limiter.run(attempt);
  };
  for (const limiter of limiters) {
    for (let each = 0; each < limit; each += 1) lane(limiter).catch(() => {});
  }
  await clock.advanceAsync(RUN_MS);
  isOver = true;
  for (const limiter of limiters) limiter.close();
  return accepted.length / ((limit * RUN_MS) / windowMs);
}

// Each rejection closed the gates for the whole named wait, though the leader knew that it was too
// long. The first wait is obeyed: 200 and 600 of 1,800 s.
it.each([
  [40, 20_000, 0.86],
  [150, 60_000, 0.62],
])(
  'a fleet obeys no later wait that proves too long: %i in %i ms',
  async (limit, windowMs, least) => {
    expect(await usedOf(limit, windowMs, 1)).toBeGreaterThan(0.9);
    expect(await usedOf(limit, windowMs, 10)).toBeGreaterThan(least);
  },
);
