import { expect, it } from 'vitest';
import { limit, type Rate, world } from '../../../limiter/adaptive/world.ts';

const MINUTE = 60_000;

/** The share of a told limit that is used three minutes after it has changed by a factor. */
async function usedAfter(kind: Rate, count: number, windowMs: number, factor: number) {
  const at = 10 * MINUTE;
  const run = world({
    provider: {
      limits: [limit(kind, count, windowMs)],
      capacity: [{ atMs: at, factor }],
      latency: 300,
      headers: 'openai',
    },
    options: { concurrency: 60 },
  });
  run.push(20_000);
  await run.advance(at + 3 * MINUTE);
  const before = run.answered[0] ?? 0;
  await run.advance(2 * MINUTE);
  const used = (run.answered[0] ?? 0) - before;
  await run.end();
  return used / (2 * MINUTE * (Math.floor(count * factor) / windowMs));
}

// Changes of more than ten were not followed before: 5 to 15 % of the limit were used.
it.each([
  ['token-bucket', 12, 10_000, 20],
  ['fixed-window', 5, 6_000, 20],
  ['sliding-window', 8, 6_000, 30],
] as const)(
  'a told %s limit of %i in %i ms that grows by %i is used',
  async (kind, count, ms, factor) => {
    expect(await usedAfter(kind, count, ms, factor)).toBeGreaterThan(0.85);
  },
);

// Rejections have lowered the rate already when the change is sure: if all of it followed then, the
// rate would be a twentieth of the limit.
it.each([
  ['token-bucket', 105, 36_000, 1 / 15],
  ['fixed-window', 105, 36_000, 1 / 15],
  ['sliding-window', 105, 36_000, 1 / 15],
] as const)(
  'a told %s limit of %i in %i ms that falls to %f is used',
  async (kind, count, ms, factor) => {
    expect(await usedAfter(kind, count, ms, factor)).toBeGreaterThan(0.8);
  },
);
