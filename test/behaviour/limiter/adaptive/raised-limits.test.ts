import { expect, it } from 'vitest';
import { limit, type Rate, world } from '../../../limiter/adaptive/world.ts';

const MINUTE = 60_000;

/** The learned rate, a minute. */
function learnedBy(run: ReturnType<typeof world>): number {
  const { adaptive } = run.limiters[0]?.snapshot() ?? {};
  return adaptive && 'origin' in adaptive ? 60 * (adaptive.ceilingPerSecond ?? 0) : 0;
}

/**
 * A user takes the limit for 60 requests a minute, but it is 40. After ten minutes it becomes 400,
 * and the user is told.
 * @returns the requests accepted in each of the three minutes after that
 */
async function acceptedAfter(kind: Rate, changes: readonly number[]): Promise<number[]> {
  const run = world({
    provider: {
      limits: [{ ...limit(kind, 40, MINUTE), ...(kind === 'token-bucket' && { burst: 3 }) }],
      capacity: [{ atMs: 10 * MINUTE, factor: 10 }],
      latency: 400,
      headers: 'none',
    },
    options: { concurrency: 50, requestsPerMinute: 60 },
  });
  run.push(3_000);
  await run.advance(10 * MINUTE);
  for (const requestsPerMinute of changes) run.limiters[0]?.configure({ requestsPerMinute });
  const accepted: number[] = [];
  for (let minute = 0; minute < 3; minute += 1) {
    const before = run.answered[0] ?? 0;
    await run.advance(MINUTE);
    accepted.push((run.answered[0] ?? 0) - before);
  }
  await run.end();
  return accepted;
}

// Before, the rate that was learned below the old limit held: 35 to 43 a minute.
it.each(['token-bucket', 'fixed-window', 'sliding-window'] as const)(
  'a %s limit that the user raises is used, though less was learned',
  async (kind) => {
    const [first = 0, , third] = await acceptedAfter(kind, [400]);
    expect(first).toBeGreaterThan(200);
    expect(third).toBeGreaterThan(350);
  },
);

it('a limit that the user lowers and restores leaves the learned rate as it was', async () => {
  const accepted = await acceptedAfter('token-bucket', [30, 60]);
  for (const each of accepted) expect(each).toBeLessThan(50);
});

it.each([
  ['before', 9],
  ['while', 10],
  ['after', 15],
])('a raise that headers tell too counts once: configured %s they do', async (_, minute) => {
  const run = world({
    provider: {
      limits: [{ ...limit('token-bucket', 40, MINUTE), burst: 3 }],
      capacity: [{ atMs: 10 * MINUTE, factor: 10 }],
      latency: 400,
      headers: 'openai',
    },
    options: { concurrency: 50, requestsPerMinute: 60 },
  });
  run.push(10_000);
  await run.advance(minute * MINUTE);
  run.limiters[0]?.configure({ requestsPerMinute: 400 });
  await run.advance((20 - minute) * MINUTE);
  expect(learnedBy(run)).toBeGreaterThan(300);
  expect(learnedBy(run)).toBeLessThan(440);
  await run.end();
});

it('a raise that headers tell lowers no rate that was learned above the configured limit', async () => {
  const run = world({
    provider: {
      limits: [{ ...limit('token-bucket', 100, MINUTE), burst: 3 }],
      capacity: [{ atMs: 11 * MINUTE, factor: 2 }],
      latency: 400,
      headers: 'openai',
    },
    options: { concurrency: 50, requestsPerMinute: 150 },
  });
  run.push(10_000);
  await run.advance(10 * MINUTE);
  const before = learnedBy(run);
  expect(before).toBeGreaterThan(80);
  run.limiters[0]?.configure({ requestsPerMinute: 30 });
  await run.advance(3 * MINUTE);
  expect(learnedBy(run)).toBeCloseTo(before, 0);
  await run.end();
});
