import { describe, expect, it } from 'vitest';
import { createLimiter } from '../../../../src/index.ts';
import { ManualClock } from '../../../../src/simulator/index.ts';
import { seededRandom } from '../../../../src/simulator/random.ts';

const REQUESTS = 300;
/** The wall time at which the clock is 0: not a whole second. */
const BEGAN_AT = Date.UTC(2026, 10, 27, 12, 0, 0, 123);

interface Headers {
  /**
   * How the end of the window is rounded to a whole second. Without it no end is told, and a
   * rejection names a wait of a second.
   */
  readonly round?: (seconds: number) => number;
  /** Whether the reset is a time since 1970, not the time until then. */
  readonly isTime?: boolean;
}

/** Sends all requests to a fixed window that begins with a request, and names only its size. */
async function sendAll(limit: number, windowMs: number, { round, isTime }: Headers, seed = 1) {
  const clock = new ManualClock();
  const random = seededRandom(seed);
  const limiter = createLimiter({ clock, random });
  const wait = (ms: number) => new Promise<void>((resolve) => clock.setTimer(resolve, ms));
  const acceptedAt: number[] = [];
  let rejected = 0;
  let endAt = 0;
  let used = 0;
  const send = async (): Promise<Response> => {
    await wait(1 + 3 * random());
    const now = clock.now();
    if (now >= endAt) {
      endAt = now + windowMs;
      used = 0;
    }
    used += 1;
    const from = isTime ? BEGAN_AT : -now;
    const headers = {
      date: new Date(BEGAN_AT + now).toUTCString(),
      'x-ratelimit-limit': String(limit),
      'x-ratelimit-remaining': String(Math.max(0, limit - used)),
      ...(round && { 'x-ratelimit-reset': String(round((from + endAt) / 1_000)) }),
      ...(round === undefined && used > limit && { 'retry-after': '1' }),
    };
    if (used > limit) {
      rejected += 1;
      return new Response('too many', { status: 429, headers });
    }
    acceptedAt.push(now);
    await wait(20 + 40 * random());
    return new Response('done', { headers });
  };
  let done = 0;
  for (let request = 0; request < REQUESTS; request += 1) {
    void limiter.run(send).then(() => {
      done += 1;
    });
  }
  while (done < REQUESTS && clock.now() < 200_000) await clock.advanceAsync(100);
  const gaps = acceptedAt.map((at, index) => at - (acceptedAt[index - 1] ?? 0));
  limiter.close();
  return { done, rejected, longestGapMs: Math.max(...gaps), seconds: clock.now() / 1_000 };
}

describe('a fixed window whose reset is rounded to whole seconds', () => {
  const floored = { round: Math.floor, isTime: true };

  it.each([10, 20])('of a second does not stop: %i requests', async (limit) => {
    const { done, longestGapMs, seconds } = await sendAll(limit, 1_000, floored);
    expect(done).toBe(REQUESTS);
    expect(longestGapMs).toBeLessThan(2_000);
    expect(seconds).toBeLessThan((1.5 * REQUESTS) / limit);
  });

  it.each([
    ['up, as a time', { round: Math.ceil, isTime: true }],
    ['down, as a time', floored],
    ['up', { round: Math.ceil, isTime: false }],
  ])('of five seconds is not taken for a bucket: %s', async (_, headers) => {
    let rejections = 0;
    for (const seed of [1, 2, 3, 4, 5]) {
      const { done, rejected, seconds } = await sendAll(50, 5_000, headers, seed);
      expect(done).toBe(REQUESTS);
      expect(seconds).toBeLessThan(34);
      rejections += rejected;
    }
    expect(rejections / 5).toBeLessThan(12);
  });
});

describe('a fixed window whose reset is not told', () => {
  it.each([10, 20])('is learned from rejections: %i requests a second', async (limit) => {
    const { done, rejected, seconds } = await sendAll(limit, 1_000, {});
    expect(done).toBe(REQUESTS);
    expect(rejected).toBeLessThan(30);
    expect(seconds).toBeLessThan((1.8 * REQUESTS) / limit);
  });
});
