import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it, type TestContext, vi } from 'vitest';
import { freePort } from '../../bench/servers/free-port.ts';
import { overview } from '../../dashboards/src/overview/overview.ts';
import { whySlow } from '../../dashboards/src/why-slow/why-slow.ts';
import type { Report } from '../../examples/batch/report.ts';
import { expressionsOf, filled, panelsOf } from '../dashboards/panels.ts';
import {
  canRun,
  type Prometheus,
  promtoolReading,
  startPrometheus,
} from '../dashboards/programs.ts';
import { startProgram, temporaryFolder } from './program.ts';

/** The whole run: rates are asked for while it lasts. */
const WINDOW = '1m';
const PROMPTS = 160;
/** What makes every gate and limit of the dashboards one that the run has; none of it binds. */
const CONFIG = {
  pace: { intervalMs: 1, jitter: 0 },
  circuitBreaker: true,
  costBudget: { maxCost: 1_000, windowMs: 3_600_000, inputPrice: 1, outputPrice: 1 },
  requestsPerMinute: 10_000,
};

/**
 * What the run has nothing of: it sends no chunks, and nobody tells how large answers were. Its
 * rate adapts, so that it may have to back off once; the first of anything has no rate, as all
 * sizes are estimated before the first scrape. It shares its limits with no other process.
 */
const FOREIGN = [
  'Length of backoffs',
  'Estimated sizes, by kind (p95)',
  'Estimated / actual size',
  'Estimated / actual size, over time',
  'Items in a chunk',
  'Chunks closed, by reason',
  'Shared store over time',
  'Share of each instance, and workers',
  'Answers of the shared store',
  'Calls of the shared store',
  'Lost leases and hand-overs',
];

const PANELS = [overview(), whySlow()]
  .flatMap(panelsOf)
  .filter(({ title = '' }) => !FOREIGN.includes(title));

/** The queries of each panel, with what is chosen put in. */
const QUERIES = PANELS.flatMap((panel) =>
  expressionsOf(panel).map((expression) => ({
    title: panel.title ?? '',
    query: filled(expression, { job: 'headgate', limiter: 'batch', __rate_interval: WINDOW }),
  })),
);

async function prometheusOf(test: TestContext, port: number): Promise<Prometheus> {
  const prometheus = await startPrometheus(`
global: { scrape_interval: 200ms, scrape_timeout: 200ms }
scrape_configs:
  - job_name: headgate
    static_configs: [{ targets: ['127.0.0.1:${port}'] }]
`);
  test.onTestFinished(() => prometheus.stop());
  return prometheus;
}

/** Waits until a query has an answer. */
async function answered(prometheus: Prometheus, query: string): Promise<void> {
  const giveUpAt = Date.now() + 30_000;
  while ((await prometheus.query(query)).length === 0) {
    if (Date.now() > giveUpAt) throw new Error(`no answer to ${query}`);
    await sleep(100);
  }
}

/** Asks all queries, again until none lacks an answer: a rate has none before the second scrape. */
async function allAnswered(prometheus: Prometheus) {
  const giveUpAt = Date.now() + 20_000;
  for (;;) {
    const found = await Promise.all(
      QUERIES.map(async ({ title, query }) => {
        const samples = await prometheus.query(query);
        return { title, query, values: samples.map(({ value }) => Number(value[1])) };
      }),
    );
    if (Date.now() > giveUpAt || found.every(({ values }) => values.length > 0)) return found;
    await sleep(100);
  }
}

describe.skipIf(!canRun('prometheus'))('the real run, watched by a real Prometheus', () => {
  // In real time: a machine that is busy elsewhere may miss a moment that a query asks for.
  const often = { retry: 2, timeout: 120_000 };
  it(
    'has finite data for every query of the dashboards, and counts as reported',
    often,
    async (test) => {
      const port = await freePort();
      const prometheus = await prometheusOf(test, port);
      await answered(prometheus, 'up == 0');
      const config = join(await temporaryFolder(test), 'limits.json');
      await writeFile(config, JSON.stringify(CONFIG));
      const args = ['--limit', String(PROMPTS), '--json', '--hold', '--config', config];
      const env = { OTEL_EXPORTER_PROMETHEUS_PORT: String(port) };
      const program = startProgram(test, args, env);

      await answered(prometheus, 'headgate_request_active > 0');
      const found = await allAnswered(prometheus);
      expect(QUERIES.length).toBeGreaterThan(50);
      for (const { title, query, values } of found) {
        expect(values, `${title}: nothing for ${query}`).not.toEqual([]);
        const strange = values.filter((value) => !Number.isFinite(value));
        expect(strange, `${title}: ${query}`).toEqual([]);
      }
      expect(program.stderr()).not.toContain('stay at');

      const url = `http://127.0.0.1:${port}/metrics`;
      await vi.waitFor(() => expect(program.stderr()).toContain(`stay at ${url} until`), 120_000);
      const complaints = await promtoolReading(await (await fetch(url)).text(), 'check', 'metrics');
      expect(complaints.trim()).toBe('');
      const ended = `headgate_progress_completed == ${PROMPTS} and headgate_request_active == 0`;
      await answered(prometheus, ended);
      // Whoever looks at a run that is held sees the state of its gates, though nothing is sent.
      const states = QUERIES.filter(({ query }) => !/rate\(|_time\(/.test(query));
      expect(states.length).toBeGreaterThan(15);
      for (const { title, query } of states) {
        expect(await prometheus.query(query), `${title}: nothing for ${query}`).not.toEqual([]);
      }
      const numberOf = async (query: string) =>
        Number((await prometheus.query(query))[0]?.value[1]);
      const counted = {
        attempts: await numberOf('sum(headgate_attempts_total)'),
        rejected: await numberOf('sum(headgate_attempts_total{error_type="429"})'),
        succeeded: await numberOf('headgate_requests_total{headgate_outcome="ok"}'),
        failed: await numberOf('headgate_requests_total{headgate_outcome="failed"}'),
      };
      program.process.kill('SIGTERM');
      const { code, stdout } = await program.ended;
      const report: Report = JSON.parse(stdout);
      expect(report).toMatchObject(counted);
      expect(report.rejected).toBeGreaterThan(0);
      expect(code).toBe(report.failed > 0 ? 1 : 0);
    },
  );
});
