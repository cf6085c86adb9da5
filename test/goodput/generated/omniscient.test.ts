import { equal, ok } from 'node:assert/strict';
import { describe, expect, it } from 'vitest';
import { generatedClients } from '../../../bench/goodput/generated/clients/index.ts';
import { LimitSet, tokenSource } from '../../../bench/goodput/generated/limit-set.ts';
import { arrivalsOf } from '../../../bench/goodput/generated/load.ts';
import { omniscientTimes } from '../../../bench/goodput/generated/omniscient.ts';
import { runGenerated } from '../../../bench/goodput/generated/run.ts';
import { drawScenario, KINDS, type Scenario } from '../../../bench/goodput/generated/space.ts';

/** Runs of more requests take too long for a test. */
const MOST_REQUESTS = 6_000;
const small = Array.from({ length: 400 }, (_, seed) => drawScenario(seed)).filter(
  ({ requests }) => requests <= MOST_REQUESTS,
);
const ofEachKind = KINDS.flatMap((kind) =>
  small.filter((scenario) => scenario.kind === kind).slice(0, 2),
);
/** In %: what is in flight at the end, and limits that change between two looks of the schedule. */
const JITTER = 0.5;

function named(scenario: Scenario): [string, Scenario] {
  return [`${scenario.kind} ${scenario.seed}`, scenario];
}

describe('the omniscient schedule', () => {
  it.each(ofEachKind.filter(({ kind }) => kind !== 'cap').map(named))(
    'of %s is let in by the provider at each of its times',
    (_, scenario) => {
      const arrivals = arrivalsOf(scenario);
      const times = omniscientTimes(scenario, arrivals);
      const limits = new LimitSet(scenario);
      const tokens = tokenSource(scenario.seed);
      expect(times.length).toBeGreaterThan(0);
      times.forEach((now, index) => {
        const cost = { tokens: tokens() };
        equal(limits.waitMs(now, cost), 0, `request ${index}`);
        ok(now >= (arrivals[index] ?? Number.POSITIVE_INFINITY), `request ${index}`);
        limits.admit(now, cost);
      });
    },
  );

  it.each(ofEachKind.map(named))('of %s goes in order, and pauses in an outage', (_, scenario) => {
    const { outageFromMs, outageMs, horizonMs } = scenario;
    const times = omniscientTimes(scenario, arrivalsOf(scenario));
    times.forEach((now, index) => {
      ok(now >= (times[index - 1] ?? 0), `request ${index}`);
      ok(now < outageFromMs || now >= outageFromMs + outageMs, `request ${index}`);
    });
    expect(times.at(-1)).toBeLessThan(horizonMs);
  });

  it('keeps a cap full: as many are let in as answers come', () => {
    const scenario = {
      ...drawScenario(1),
      kind: 'cap',
      limit: 3,
      latencyMs: 100,
      latencySigma: 0,
      horizonMs: 1_000,
      change: 'none',
      outage: 'none',
      outageMs: 0,
    } as const;
    const times = omniscientTimes(scenario, new Array<number>(100).fill(0));
    expect(times).toHaveLength(30);
    expect(times.slice(0, 4).map(Math.round)).toEqual([0, 0, 0, 100]);
  });

  it.each(ofEachKind.map(named))('of %s is beaten by nobody', async (_, scenario) => {
    for (const client of [generatedClients.known, generatedClients.aimd]) {
      const { goodput } = await runGenerated(scenario, client, { concurrency: 2_000 });
      expect(goodput).toBeGreaterThanOrEqual(0);
      expect(goodput).toBeLessThanOrEqual(100 + JITTER);
    }
  });
});
