import { describe, expect, it } from 'vitest';
import type { ClientContext, Knowledge } from '../../bench/goodput/client.ts';
import { type ClientName, clientNames, clients } from '../../bench/goodput/clients/index.ts';
import { families } from '../../bench/goodput/families.ts';
import type { Prompt } from '../../bench/goodput/prompts.ts';
import { runCell, runToFinish } from '../../bench/goodput/run-cell.ts';
import { complete, type Scenario } from '../../bench/goodput/scenario.ts';
import { scenarios } from '../../bench/goodput/scenarios.ts';
import { isLong } from '../support/runs.ts';

const SECONDS = 20;
/** The best that luck with prompts of different sizes, or with the time of the end, may add. */
const LUCK = 1.02;

const short = (scenario: Scenario): Scenario => ({ ...scenario, seconds: SECONDS });
const run = (scenario: Scenario, client: ClientName, seed = 101) =>
  runCell(short(scenario), clients[client], seed);

function named(name: string): Scenario {
  const found = scenarios.find((scenario) => scenario.name === name);
  if (found === undefined) throw new Error(`there is no scenario ${name}`);
  return found;
}

/** A storm within `SECONDS`. Clients that draw their waits do so in it. */
function earlyStorm(): Scenario {
  const storm = named('storm');
  return { ...storm, provider: { ...storm.provider, storms: [{ fromMs: 10_000, toMs: 15_000 }] } };
}

describe('a run', () => {
  it.each(clientNames)('of %s is the same for the same seed', async (name) => {
    const first = await run(earlyStorm(), name);
    expect(await run(earlyStorm(), name)).toEqual(first);
    expect(first.successes).toBeGreaterThan(0);
    for (const figure of Object.values(first)) expect(Number.isFinite(figure)).toBe(true);
  });

  it('is another for another seed', async () => {
    expect(await run(named('tb'), 'fixed-50', 101)).not.toEqual(
      await run(named('tb'), 'fixed-50', 102),
    );
  });

  it.each(['sw', 'tenants', ...(isLong ? ['conc', 'eight'] : [])])(
    'of nobody is better than the bound in %s',
    async (name) => {
      const bound = await run(named(name), 'omniscient');
      for (const client of clientNames) {
        const { goodput } = await run(named(name), client);
        expect([client, goodput <= bound.goodput * LUCK]).toEqual([client, true]);
      }
      expect(bound.rejected).toBe(0);
    },
  );

  it('leaves the platform its timers and its chance', async () => {
    const before = [setTimeout, Date, Math.random];
    await run(named('tb'), 'p-queue');
    expect([setTimeout, Date, Math.random]).toEqual(before);
  });

  it('shares its chance with nobody else in the process', async () => {
    const alone = await run(earlyStorm(), 'cockatiel');
    let draws = 0;
    const other = setInterval(() => {
      Math.random();
      draws += 1;
    }, 0);
    try {
      expect(await run(earlyStorm(), 'cockatiel')).toEqual(alone);
    } finally {
      clearInterval(other);
    }
    expect(draws).toBeGreaterThan(0);
  });

  it('fails when its client does', async () => {
    const broken = {
      ...clients['headgate-known'],
      load: async () => () => () => {
        throw new Error('no');
      },
    };
    await expect(runCell(short(named('tb')), broken, 1)).rejects.toThrow('no');
  });

  it('shows rate-limit headers to those alone who follow them', async () => {
    const seen = new Map<Knowledge, readonly string[]>();
    for (const knows of ['nothing', 'headers'] as const) {
      const load = async () => (context: ClientContext) => (prompt: Prompt) => {
        context.send(prompt).then(
          ({ headers }) => seen.set(knows, Object.keys(headers)),
          () => context.lost(prompt),
        );
      };
      const scenario = { ...short(named('tb')), backlog: 1 };
      await runCell(scenario, { ...clients.omniscient, knows, load }, 1);
    }
    expect(seen.get('nothing')).toEqual([]);
    expect(seen.get('headers')).toContain('x-ratelimit-remaining-requests');
  });
});

describe('time', () => {
  it('flows alike for those with a clock and those with the globals', async () => {
    const tb = named('tb');
    const client = clients['headgate-known'];
    const byClock = await runCell(short(tb), client, 101);
    const byGlobals = await runCell(short(tb), { ...client, usesGlobals: true }, 101);
    // A pace of 100.2 ms in whole milliseconds of timers: a part in a hundred.
    expect(Math.abs(byGlobals.successes / byClock.successes - 1)).toBeLessThan(0.01);
    expect(Math.abs(byGlobals.waitP50Ms / byClock.waitP50Ms - 1)).toBeLessThan(0.01);
    expect(Math.abs(byGlobals.waitP99Ms / byClock.waitP99Ms - 1)).toBeLessThan(0.01);
  });
});

describe('a run to the end', () => {
  const scenario = complete({
    name: 'some',
    about: '',
    backlog: 50,
    provider: {
      latency: 1000,
      limits: [
        { unit: 'requests', algorithm: 'token-bucket', limit: 10, windowMs: 1000, burst: 10 },
      ],
    },
  });

  it('is over with the last answer', async () => {
    const { finishedMs, successes } = await runToFinish(scenario, clients.omniscient, 1);
    expect(successes).toBe(50);
    expect(finishedMs).toBeCloseTo(4000 + 1000, 3);
  });

  it.each(clientNames)('is over for %s', async (name) => {
    const { successes, finishedMs } = await runToFinish(scenario, clients[name], 1);
    expect(successes).toBe(50);
    expect(finishedMs).toBeGreaterThanOrEqual(4999);
  });

  it('is tried against each family', () => {
    expect(families.map(({ backlog }) => backlog)).toEqual([2000, 2000, 2000]);
  });
});
