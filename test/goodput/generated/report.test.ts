import { describe, expect, it } from 'vitest';
import type { GeneratedClient } from '../../../bench/goodput/generated/client.ts';
import { generatedClients } from '../../../bench/goodput/generated/clients/index.ts';
import {
  figuresBy,
  figuresOf,
  type GeneratedRun,
} from '../../../bench/goodput/generated/figures.ts';
import { type RunView, runGenerated } from '../../../bench/goodput/generated/run.ts';
import { drawScenario, type Scenario } from '../../../bench/goodput/generated/space.ts';
import { beliefText, Trace } from '../../../bench/goodput/generated/trace.ts';
import { traceChart } from '../../../bench/goodput/generated/trace-chart.ts';

const base = drawScenario(1);
const run = (goodput: number, changes: Partial<GeneratedRun> = {}): GeneratedRun => ({
  scenario: base,
  goodput,
  rejectedPerMille: 10 * goodput,
  accepted: 100,
  rejected: 1,
  floodedMinutes: 0,
  ...changes,
});

describe('figures', () => {
  it('are quantiles over the runs, and count those with a flooded minute', () => {
    const runs = [30, 10, 50, 20, 40].map((goodput) => run(goodput));
    expect(figuresOf([...runs.slice(1), run(30, { floodedMinutes: 9 })])).toEqual({
      runs: 5,
      goodput: { median: 30, p25: 20, p5: 12 },
      rejected: { median: 300, p95: 480, worst: 500 },
      floods: 1,
    });
  });

  it('are told apart by what providers have in common', () => {
    const runs = [run(10), run(20, { scenario: { ...base, kind: 'gcra' } }), run(30)];
    const rows = figuresBy('kind', runs);
    expect(Object.keys(rows)).toEqual([base.kind, 'gcra'].sort());
    expect(rows[base.kind]?.goodput.median).toBe(20);
  });
});

/** A bucket of 10/s for two minutes. */
const small: Scenario = {
  ...base,
  kind: 'token-bucket',
  perMs: 0.01,
  limit: 100,
  windowMs: 10_000,
  burst: 5,
  latencyMs: 100,
  networkMs: 5,
  rejectionMs: 20,
  load: 'saturated',
  change: 'none',
  outage: 'none',
  outageMs: 0,
  requests: 1_200,
  horizonMs: 120_000,
};

describe('a run', () => {
  it.each(Object.entries(generatedClients))(
    'of %s is the same each time, and sends',
    async (_, client) => {
      const score = () => runGenerated(small, client, { concurrency: 100 });
      const first = await score();
      expect(await score()).toEqual(first);
      expect(first.accepted).toBeGreaterThan(100);
    },
  );

  it('keeps to the concurrency of the user', async () => {
    let view: RunView | undefined;
    let most = 0;
    const watcher = {
      begun: (begun: RunView) => {
        view = begun;
      },
      sent: () => {
        most = Math.max(most, view?.inFlight() ?? 0);
      },
      answered: () => undefined,
    };
    await runGenerated(small, generatedClients.headgate, { concurrency: 3, watcher });
    expect(most).toBe(3);
  });

  it('ends with the last answer where requests come in bursts', async () => {
    const bursts = { ...small, load: 'bursts', burstRequests: 20, burstLoad: 0.5 } as const;
    const { accepted, goodput } = await runGenerated(bursts, generatedClients.known, {
      concurrency: 100,
    });
    expect(accepted).toBe(600);
    expect(goodput).toBeGreaterThan(80);
  });

  it('fails when its client does', async () => {
    const load = async () => () => {
      throw new Error('no');
    };
    const client = { ...generatedClients.aimd, load };
    await expect(runGenerated(small, client, { concurrency: 1 })).rejects.toThrow('no');
  });
});

describe('a trace', () => {
  it('has an entry for each sixtieth of the run, and for the first 200 rejections', async () => {
    const trace = new Trace();
    const { rejected } = await runGenerated(small, generatedClients['p-limit'], {
      concurrency: 100,
      watcher: trace,
    });
    const causes = trace.entries.map(({ cause }) => cause);
    expect(causes.filter((cause) => cause === 'time')).toHaveLength(61);
    expect(rejected).toBeGreaterThan(200);
    expect(causes.filter((cause) => cause === 'rejected')).toHaveLength(200);
  });

  it('prints whatever a client believes, in one line', () => {
    expect(beliefText({ a: 1 / 3, b: { c: 'x', d: undefined }, e: [1, 2], f: null })).toBe(
      'a=0.3333 b={c=x} e=[1 2] f=null',
    );
    expect(beliefText({ windows: [{ limit: 5 }] })).toBe('windows=[limit=5]');
  });

  it('is drawn with the rate that is believed, where one is', async () => {
    const traceOf = async (client: GeneratedClient) => {
      const trace = new Trace();
      await runGenerated(small, client, { concurrency: 100, watcher: trace });
      return traceChart('a < b', small, trace.entries);
    };
    const svg = await traceOf(generatedClients.aimd);
    expect(svg).toContain('a &lt; b');
    expect(svg).toContain('believed');
    expect(svg).not.toMatch(/undefined|NaN|Infinity/);
    expect(svg.match(/<text /g)).toHaveLength(svg.match(/<\/text>/g)?.length ?? 0);
    expect(await traceOf(generatedClients['p-limit'])).not.toContain('believed');
  });
});
