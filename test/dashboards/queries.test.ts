import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { dashboards } from '../../dashboards/src/dashboards.ts';
import { GATES, startExporter } from './instruments.ts';
import { renaming } from './intake-names.ts';
import { expressionsOf, filled, panelsOf } from './panels.ts';
import { canRun, type Prometheus, type Sample, startPrometheus } from './programs.ts';

/** Enough for a rate over 4 s, the window. */
const SCRAPES = 10;
/** Real time passes: what must happen does so in this time, on the busiest machine. */
const WAIT_MS = 60_000;
const LIMITERS = ['batch', 'chat'];
const JOBS = ['scraped', 'taken-in'];

const ALL = Object.values(dashboards());

const config = (port: number) => `
global: { scrape_interval: 500ms, scrape_timeout: 500ms }
scrape_configs:
  - job_name: ${JOBS[0]}
    static_configs: [{ targets: ['127.0.0.1:${port}'] }]
  - job_name: ${JOBS[1]}
    static_configs: [{ targets: ['127.0.0.1:${port}'] }]
    metric_relabel_configs:${renaming()}
`;

/** Puts in what is chosen, as Grafana does. */
function chosen(text: string, job: string, limiter = LIMITERS.join('|')): string {
  return filled(text, { job, limiter });
}

function expectFinite(samples: readonly Sample[], expression: string): void {
  expect(samples, `nothing for ${expression}`).not.toEqual([]);
  const values = samples.map(({ value }) => Number(value[1]));
  expect(
    values.filter((value) => !Number.isFinite(value)),
    expression,
  ).toEqual([]);
}

describe.skipIf(!canRun('prometheus'))('with a real Prometheus', () => {
  let exporter: Awaited<ReturnType<typeof startExporter>>;
  let prometheus: Prometheus;

  beforeAll(async () => {
    exporter = await startExporter();
    prometheus = await startPrometheus(config(exporter.port));
    await scraped();
  });

  afterAll(async () => {
    await prometheus?.stop();
    await exporter?.stop();
  });

  /** The first scrape comes some seconds after the start. */
  async function scraped(): Promise<void> {
    const enough = `count(count_over_time(up[1m]) >= ${SCRAPES}) == ${JOBS.length}`;
    const giveUpAt = Date.now() + WAIT_MS;
    while ((await prometheus.query(enough)).length === 0) {
      if (Date.now() > giveUpAt) throw new Error(`no ${SCRAPES} scrapes in ${WAIT_MS} ms`);
      await sleep(200);
    }
  }

  /** What there is; a scrape that came too late leaves nothing until the next one. */
  async function found(expression: string): Promise<readonly Sample[]> {
    const giveUpAt = Date.now() + WAIT_MS;
    for (;;) {
      const samples = await prometheus.query(expression);
      if (samples.length > 0 || Date.now() > giveUpAt) return samples;
      await sleep(200);
    }
  }

  const panels = ALL.flatMap((dashboard) =>
    panelsOf(dashboard).map((panel) => [dashboard.title, panel.title, panel] as const),
  );

  test.each(panels)('%s: "%s" has finite data', async (_dashboard, _panel, panel) => {
    for (const job of JOBS) {
      for (const expression of expressionsOf(panel)) {
        const asked = chosen(expression, job);
        expectFinite(await found(asked), asked);
      }
    }
  });

  test.each(ALL.map((dashboard) => [dashboard.title, dashboard] as const))(
    '%s: every annotation finds its state',
    async (_title, { annotations }) => {
      const own = (annotations.list ?? []).filter(({ builtIn }) => builtIn !== 1);
      expect(own).toHaveLength(3);
      for (const job of JOBS) {
        for (const { target } of own) {
          const asked = chosen((target as unknown as { expr: string }).expr, job);
          expectFinite(await found(asked), asked);
        }
      }
    },
  );

  /** What each variable is to offer. */
  const offers = (): Readonly<Record<string, readonly string[]>> => ({
    job: JOBS,
    instance: [`127.0.0.1:${exporter.port}`],
    limiter: LIMITERS,
    gate: [...GATES].sort(),
    service: ['synthetic'],
  });

  test.each(
    ALL.flatMap(({ title, templating }) =>
      (templating.list ?? [])
        .filter(({ type }) => type === 'query')
        .map(({ name, query, regex }) => [title, name, query, regex] as const),
    ),
  )('%s: the variable %s offers what there is', async (_title, name, query, regex) => {
    const text = (query as { query: string }).query;
    for (const job of JOBS) {
      expect(await offered(chosen(text, job), regex)).toEqual(offers()[name]);
    }
  });

  async function offered(text: string, regex: string | undefined): Promise<string[]> {
    const [, selector, label] = /^label_values\((.+), (\w+)\)$/.exec(text) ?? [];
    if (selector !== undefined && label !== undefined) {
      const found = (await prometheus.series(selector)).map((labels) => labels[label] ?? '');
      return [...new Set(found)].sort();
    }
    const [, expression] = /^query_result\((.+)\)$/.exec(text) ?? [];
    const pattern = new RegExp(regex?.slice(1, -1) ?? '');
    return (await found(expression ?? '')).map(({ metric }) => {
      const labels = Object.entries(metric).map(([key, value]) => `${key}="${value}"`);
      return pattern.exec(`{${labels.join(',')}} 1`)?.[1] ?? '';
    });
  }

  test('the binding gate is the last that has a queue, and words are there for each', async () => {
    const now = panels.find(([, title]) => title === 'What binds now')?.[2];
    const [expression = ''] = now === undefined ? [] : expressionsOf(now);
    const samples = await found(chosen(expression, 'scraped', 'batch'));
    expect(samples.map(({ value }) => value[1])).toEqual([String(GATES.length)]);
    const [mapping] = now?.fieldConfig?.defaults.mappings ?? [];
    expect(mapping?.options).toHaveProperty(
      String(GATES.length),
      expect.objectContaining({ text: GATES.at(-1) }),
    );
  });
});
