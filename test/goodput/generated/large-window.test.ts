import { expect, it } from 'vitest';
import { generatedClients } from '../../../bench/goodput/generated/clients/index.ts';
import { runGenerated } from '../../../bench/goodput/generated/run.ts';
import { saturatedScenario } from './saturated-scenario.ts';

// A sliding log opens as it was filled. Where each burst of it was taken for its rate: 72 to 91 %.
it.each(['nothing', 'retry-exact'] as const)(
  'a sliding log of 2,000 in a minute, answers of 6 s (headers: %s)',
  async (headers) => {
    for (const seed of [1, 2, 3]) {
      const times = { latencyMs: 6_000, latencySigma: 0.3, networkMs: 10, rejectionMs: 60 };
      const window = { kind: 'sliding-log', limit: 2_000, windowMs: 60_000 } as const;
      const run = { horizonMs: 900_000, requests: 36_000 };
      const { goodput } = await runGenerated(
        saturatedScenario(seed, { ...window, ...times, ...run, headers }),
        generatedClients.headgate,
        { concurrency: 400 },
      );
      expect(goodput).toBeGreaterThan(90);
    }
  },
);
