import { describe, expect, it } from 'vitest';
import type { ProviderOptions } from '../../../../src/simulator/index.ts';
import { limit, type Rate, world } from '../../../limiter/adaptive/world.ts';

interface Job {
  readonly limits: NonNullable<ProviderOptions['limits']>;
  readonly latency: number;
  readonly concurrency: number;
  readonly jobs: number;
  readonly headers?: 'openai' | 'anthropic';
  readonly units?: number;
  readonly initialLimit?: number;
}

/** The time that a job takes, in ms, and how many of its requests were rejected. */
async function run({ limits, latency, concurrency, jobs, headers = 'openai', ...given }: Job) {
  const { units, initialLimit } = given;
  const w = world({
    provider: {
      ...{ headers, latency, limits, retryAfter: 'exact', rejectLatencyMs: 50 },
      ...(units !== undefined && { concurrency: { units, queue: 0, status: 429 } }),
    },
    options: {
      concurrency,
      ...(initialLimit !== undefined && { adaptive: { strategy: 'rate', initialLimit } }),
    },
  });
  w.push(jobs);
  let ms = 0;
  for (; w.answered[0] !== jobs; ms += 100) {
    if (ms > 3_600_000) throw new Error('the job does not end');
    await w.advance(100);
  }
  const rejected = w.sent.length - jobs;
  await w.end();
  return { ms, rejected };
}

const bucket = (perMinute: number, burst: number) => ({
  ...limit('token-bucket', perMinute, 60_000),
  burst,
});

describe('a short job at limits that answers tell', () => {
  // The first 16 requests find out what is left.
  it.each<['openai' | 'anthropic', Rate]>([
    ['openai', 'fixed-window'],
    ['openai', 'sliding-window'],
    ['anthropic', 'token-bucket'],
  ])('takes two round trips while enough is left: %s, %s', async (headers, algorithm) => {
    const limits = [limit(algorithm, 2_000, 60_000)];
    const job = { headers, limits, latency: 2_000, concurrency: 128, jobs: 140 };
    expect(await run(job)).toEqual({ ms: 4_000, rejected: 0 });
  });

  it('doubles what is in flight, as without reports, where the user has set the first number', async () => {
    const limits = [limit('fixed-window', 2_000, 60_000)];
    const job = { limits, latency: 2_000, concurrency: 128, jobs: 140, initialLimit: 16 };
    expect((await run(job)).ms).toBe(8_000);
  });

  it('sends no more than what is left', async () => {
    const limits = [limit('fixed-window', 60, 60_000)];
    const job = { limits, latency: 2_000, concurrency: 200, jobs: 100 };
    expect((await run(job)).rejected).toBe(0);
  });

  it('uses what a full bucket holds at once', async () => {
    const limits = [bucket(60, 60)];
    // 59 can be sent at once, in groups of 16, and the rest comes back one a second.
    const { ms, rejected } = await run({ limits, latency: 500, concurrency: 16, jobs: 63 });
    expect(ms).toBeLessThan(6_000);
    expect(rejected).toBe(0);
  });

  it('stops in time where a bucket holds less than its limit', async () => {
    const limits = [bucket(543, 257)];
    const { rejected } = await run({ limits, latency: 100, concurrency: 1_000, jobs: 500 });
    expect(rejected).toBeLessThan(10);
  });
});

describe('a cap of two requests in flight beside limits that answers tell', () => {
  it.each(['openai', 'anthropic'] as const)('is found by its rejections: %s', async (headers) => {
    const limits = [limit('fixed-window', 500, 60_000)];
    const job = { headers, limits, latency: 3_000, concurrency: 100, jobs: 400, units: 2 };
    const { ms, rejected } = await run(job);
    // Two at a time, each 3 s. Before a cap was found here, this took twice as long.
    expect(ms).toBeLessThan(1.15 * (400 / 2) * 3_000);
    expect(rejected).toBeLessThan(60);
  });
});
