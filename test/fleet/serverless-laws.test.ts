import { expect, it } from 'vitest';
import { type Functions, runFunctions } from './serverless-rig.ts';

const MINUTE = { unit: 'requests', windowMs: 60_000 } as const;
const ENDS = ['closed', 'frozen', 'killed'] as const;

it.each(ENDS)(
  'functions that are %s after each invocation keep known limits, and end',
  async (end) => {
    const run = await runFunctions({
      seed: 1,
      provider: { limits: [{ ...MINUTE, algorithm: 'sliding-window', limit: 120 }], latency: 900 },
      limiter: { requestsPerMinute: 120 },
      end,
      ...{ perMinute: 40, atOnce: 15, most: 6, callMs: 10, minutes: 5 },
    });
    expect(run).toMatchObject({ rejected: 0, failed: 0, open: 0, keptAlive: 0 });
    expect(run.most).toBeLessThanOrEqual(120);
    expect(run.acceptedPerMinute).toBeGreaterThan(0.94 * 120);
  },
);

/** Functions that use a third of a limit which ends with the minute. */
function light(end: Functions['end'], seed: number): Functions {
  const limits = [{ ...MINUTE, algorithm: 'fixed-window', limit: 75 } as const];
  const provider = { limits, latency: 1_500, headers: 'anthropic' } as const;
  return { seed, provider, end, perMinute: 15, atOnce: 1, most: 2, callMs: 2, minutes: 9 };
}

it.each(ENDS)('%s functions wait for no answer that is lost with its process', async (end) => {
  for (const seed of [10, 11, 12]) {
    const run = await runFunctions(light(end, seed));
    expect(run, `seed ${seed}`).toMatchObject({ rejected: 0, failed: 0, open: 0, keptAlive: 0 });
    // A leader that was killed is followed after 5 s, and the next one reads what it has left.
    expect(run.longestMs, `seed ${seed}`).toBeLessThan(8_000);
  }
});

it('killed functions do not take an unknown limit for a small cap on requests in flight', async () => {
  const limits = [{ ...MINUTE, algorithm: 'fixed-window', limit: 1_181 } as const];
  const said = { headers: 'none', retryAfter: 'none', rejectLatencyMs: 80 } as const;
  const run = await runFunctions({
    seed: 5,
    provider: { limits, latency: 10_000, ...said },
    end: 'killed',
    ...{ perMinute: 170, atOnce: 41, most: 17, callMs: 25, minutes: 5 },
  });
  expect(run).toMatchObject({ failed: 0, open: 0 });
  expect(run.acceptedPerMinute).toBeGreaterThan(1_100);
});
