import { describe, expect, it } from 'vitest';
import { generatedClients } from '../../../../bench/goodput/generated/clients/index.ts';
import { runGenerated } from '../../../../bench/goodput/generated/run.ts';
import { drawScenario, type Scenario } from '../../../../bench/goodput/generated/space.ts';
import { RateEstimate } from '../../../../src/policies/adaptive-rate/measured/rate-estimate.ts';
import { UnsavedLimit } from '../../../../src/policies/adaptive-rate/measured/unsaved-limit.ts';
import { attemptAt } from '../attempts.ts';

/** A cycle of 100 attempts. */
const cycle = (limit: UnsavedLimit, mean: number, end: number, measured = mean) =>
  limit.next(100, mean, end, measured);

describe('UnsavedLimit', () => {
  it('tries halfway between the measured rate and the pace at which two cycles ended', () => {
    const limit = new UnsavedLimit();
    expect(cycle(limit, 0.9, 1)).toBe(0.9);
    expect(cycle(limit, 0.9, 1.02)).toBeCloseTo(Math.sqrt(0.9 * 1.02), 12);
  });

  it('tries nothing if the cycles ended at different paces', () => {
    const limit = new UnsavedLimit();
    cycle(limit, 0.9, 1);
    expect(cycle(limit, 0.9, 1.04)).toBe(0.9);
    expect(cycle(limit, 0.9, 1)).toBe(0.9);
  });

  it('tries nothing if they ended close to the measured rate', () => {
    const limit = new UnsavedLimit();
    cycle(limit, 0.98, 1);
    expect(cycle(limit, 0.98, 1)).toBe(0.98);
  });

  it('tries nothing after a short cycle', () => {
    const limit = new UnsavedLimit();
    cycle(limit, 0.9, 1);
    expect(limit.next(19, 0.9, 1, 0.9)).toBe(0.9);
    expect(limit.next(20, 0.9, 1, 0.9)).toBeGreaterThan(0.9);
  });

  it('tries nothing where nothing was paced', () => {
    const limit = new UnsavedLimit();
    cycle(limit, 0.9, Number.POSITIVE_INFINITY);
    expect(cycle(limit, 0.9, Number.POSITIVE_INFINITY)).toBe(0.9);
  });

  it('tries again at once if the trial was accepted', () => {
    const limit = new UnsavedLimit();
    cycle(limit, 0.8, 1);
    const tried = cycle(limit, 0.8, 1);
    expect(cycle(limit, tried, 1)).toBeCloseTo(Math.sqrt(tried), 12);
  });

  it('needs twice as many cycles after each trial that failed, up to 64', () => {
    const limit = new UnsavedLimit();
    const neededBefore = Array.from({ length: 9 }, () => {
      let cycles = 0;
      do cycles += 1;
      while (cycle(limit, 0.9, 1) === 0.9);
      return cycles;
    });
    expect(neededBefore).toEqual([2, 2, 4, 8, 16, 32, 64, 64, 64]);
  });
});

const PROVIDER: Partial<Scenario> = {
  perMs: 0.001,
  windowMs: 60_000,
  limit: 60,
  latencyMs: 200,
  latencySigma: 0.3,
  networkMs: 5,
  networkJitter: 0.3,
  rejectionMs: 20,
  countsRejected: false,
  headers: 'nothing',
  load: 'saturated',
  change: 'none',
  outage: 'none',
  outageMs: 0,
};

/** Mean goodput in %, and rejections for 1,000 accepted requests, of four runs. */
async function run(provider: Partial<Scenario>) {
  const horizonMs = 6_000_000;
  const scores = await Promise.all(
    [1, 2, 3, 4].map((seed) => {
      const drawn = { ...drawScenario(seed), ...PROVIDER, ...provider };
      const requests = Math.round(horizonMs * drawn.perMs);
      const scenario = { ...drawn, horizonMs, requests };
      return runGenerated(scenario, generatedClients.headgate, { concurrency: 400 });
    }),
  );
  const mean = (values: readonly number[]) => values.reduce((sum, one) => sum + one) / 4;
  return {
    goodput: mean(scores.map(({ goodput }) => goodput)),
    rejected: mean(scores.map(({ rejectedPerMille }) => rejectedPerMille)),
  };
}

describe('a limit on the distance between requests, which saves nothing', () => {
  it('is used to more than 96 %', async () => {
    const { goodput, rejected } = await run({ kind: 'gcra', burst: 1 });
    expect(goodput).toBeGreaterThan(96);
    expect(rejected).toBeLessThan(12);
  });

  it('costs a bucket, which saves, hardly any rejections', async () => {
    const { goodput, rejected } = await run({ kind: 'token-bucket', burst: 60 });
    expect(goodput).toBeGreaterThan(99);
    expect(rejected).toBeLessThan(16);
  });
});

describe('cycles that say nothing of a limit on distances', () => {
  /** The highest rate with which one of the later cycles began. */
  function begins({ idleMs = 0, closedMs = 1 }): number {
    const none = { perMs: () => Number.POSITIVE_INFINITY, burst: () => 0 };
    const estimate = new RateEstimate({ accepted: 0, firstAt: 0 }, none);
    let [at, order, highest] = [0, 0, 0];
    const settle = (outcome: 'accepted' | 'rejected', pacePerMs: number, idle = 0) => {
      const sent = attemptAt(at, { order, pacePerMs, idleMs: idle });
      order += 1;
      sent.outcome = outcome;
      sent.reaction = { order };
      estimate.settled(sent, Number.NEGATIVE_INFINITY, 1);
    };
    // Each cycle has the mean 0.9 in the time with demand, and ends at the pace 1.
    for (let cycle = 0; cycle < 8; cycle += 1) {
      for (let sent = 0; sent < 100; sent += 1) {
        at += 1 / 0.9;
        if (sent === 50) at += idleMs;
        settle('accepted', 0.9, sent === 50 ? idleMs : 0);
        if (cycle > 2) highest = Math.max(highest, estimate.measuredPerMs);
      }
      settle('rejected', 1);
      at += closedMs;
    }
    return highest;
  }

  it('begin a trial otherwise', () => {
    expect(begins({})).toBeGreaterThan(0.92);
  });

  it('begin none after time without demand', () => {
    expect(begins({ idleMs: 100 })).toBeLessThan(0.92);
  });

  it('begin none after a long closure, as that of a window', () => {
    const closedMs = 15;
    expect(begins({ closedMs })).toBeLessThan((0.92 * 111) / (111 + closedMs));
  });
});
