import { expect, it } from 'vitest';
import { generatedClients } from '../../../bench/goodput/generated/clients/index.ts';
import { runGenerated } from '../../../bench/goodput/generated/run.ts';
import { saturatedScenario } from './saturated-scenario.ts';

it.each([
  [1_000, 2],
  [1_000, 3],
  [6_000, 2],
  [6_000, 3],
])(
  'a distance of 33 ms whose rejections name a second, answers of %i ms, seed %i',
  async (latencyMs, seed) => {
    // Where each second is paid for again and again: 27 to 30 %, with 58 to 77 rejections in 1,000.
    const limit = { kind: 'gcra', limit: 300, windowMs: 10_000, burst: 1 } as const;
    const times = { latencyMs, latencySigma: 0.3, networkMs: 10, rejectionMs: 60 };
    const scenario = saturatedScenario(seed, { ...limit, ...times, headers: 'retry-seconds' });
    const score = await runGenerated(scenario, generatedClients.headgate, { concurrency: 400 });
    expect(score.goodput).toBeGreaterThan(65);
    expect(score.rejectedPerMille).toBeLessThan(10);
  },
);
