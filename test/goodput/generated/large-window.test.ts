import { expect, it } from 'vitest';
import { generatedClients } from '../../../bench/goodput/generated/clients/index.ts';
import { runGenerated } from '../../../bench/goodput/generated/run.ts';
import { saturatedScenario } from './saturated-scenario.ts';

/** The goodput at a sliding log of 2,000 in a minute with answers of 6 s, with each seed. */
async function goodputs(headers: 'nothing' | 'retry-exact', seeds: number): Promise<number[]> {
  const found: number[] = [];
  for (let seed = 1; seed <= seeds; seed += 1) {
    const times = { latencyMs: 6_000, latencySigma: 0.3, networkMs: 10, rejectionMs: 60 };
    const window = { kind: 'sliding-log', limit: 2_000, windowMs: 60_000 } as const;
    const run = { horizonMs: 900_000, requests: 36_000 };
    const { goodput } = await runGenerated(
      saturatedScenario(seed, { ...window, ...times, ...run, headers }),
      generatedClients.headgate,
      { concurrency: 400 },
    );
    found.push(goodput);
  }
  return found;
}

// A sliding log opens as it was filled. Where each burst of it was taken for its rate: 72 to 91 %.
it('a large sliding log that tells nothing is used evenly', async () => {
  expect(Math.min(...(await goodputs('nothing', 3)))).toBeGreaterThan(90);
});

// Exact waits end with each request that leaves the log, so that some runs follow its bursts.
it('a large sliding log that names exact waits is mostly used evenly', async () => {
  const found = await goodputs('retry-exact', 12);
  expect(found.filter((goodput) => goodput > 85).length).toBeGreaterThanOrEqual(8);
  expect(Math.min(...found)).toBeGreaterThan(50);
});
