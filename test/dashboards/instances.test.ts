import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { stringify } from 'yaml';
import { dashboards } from '../../dashboards/src/dashboards.ts';
import { renamed } from './intake-names.ts';
import { expressionsOf, filled, panelsOf } from './panels.ts';
import { canRun, promtool } from './programs.ts';

/** Half of the limits of each instance are for the other mode, and must not be counted. */
const LIMITS = { a: { normal: 64, throttled: 10 }, b: { normal: 64, throttled: 10 } } as const;
const SECONDS = 300;
const EVERY = 15;

type Labels = Readonly<Record<string, string>>;

function labelled(name: string, labels: Labels): string {
  const all = { job: 'j', headgate_name: 'n', ...labels };
  return `${name}{${Object.entries(all).map(([key, value]) => `${key}="${value}"`)}}`;
}

/** A series that is the same all the time, or grows by so much a second. */
function series(name: string, labels: Labels, value: number, growth = 0) {
  const values = `${value}+${growth * EVERY}x${SECONDS / EVERY}`;
  return { series: labelled(name, labels), values };
}

/** Instance "a" is throttled and nearly full; "b" is in normal mode and knows no total. */
function twoInstances() {
  const a = { instance: 'a' };
  const b = { instance: 'b' };
  const modes = (
    [
      ['a', 'throttled'],
      ['b', 'normal'],
    ] as const
  ).flatMap(([instance, mode]) =>
    (['normal', 'throttled'] as const).flatMap((each) => [
      series('headgate_mode', { instance, headgate_mode: each }, each === mode ? 1 : 0),
      series(
        'headgate_concurrency_limit',
        { instance, headgate_mode: each },
        LIMITS[instance][each],
      ),
    ]),
  );
  const rpm = { headgate_limit: 'rpm' };
  return [
    ...modes,
    series('headgate_request_active', a, 9),
    series('headgate_request_active', b, 16),
    series('headgate_request_queued', { ...a, headgate_gate: 'concurrency' }, 60),
    series('headgate_request_queued', { ...b, headgate_gate: 'pace' }, 15),
    series('headgate_byte_budget_usage', a, 5_000_000),
    series('headgate_byte_budget_usage', b, 0),
    series('headgate_byte_budget_limit', a, 5_000_000),
    series('headgate_byte_budget_limit', b, 5_000_000),
    series('headgate_rate_limit_usage', { ...a, ...rpm }, 60),
    series('headgate_rate_limit_usage', { ...b, ...rpm }, 0),
    series('headgate_rate_limit_limit', { ...a, ...rpm }, 60),
    series('headgate_rate_limit_limit', { ...b, ...rpm }, 60),
    series('headgate_progress_expected', a, 1000),
    series('headgate_progress_completed', a, 250),
    series('headgate_progress_completed', b, 700),
    series('headgate_requests_total', { ...a, headgate_outcome: 'ok' }, 0, 5),
    series('headgate_requests_total', { ...b, headgate_outcome: 'ok' }, 0, 20),
  ];
}

/** Two instances of "f" that share its limits through a store: each tells the whole of them. */
function fleet() {
  const all = ['a', 'b'].flatMap((instance) => {
    const f = { instance, headgate_name: 'f' };
    const rpm = { ...f, headgate_limit: 'rpm' };
    return [
      series('headgate_fleet_workers', f, 2),
      series('headgate_mode', { ...f, headgate_mode: 'normal' }, 1),
      series('headgate_concurrency_limit', { ...f, headgate_mode: 'normal' }, 10),
      series('headgate_byte_budget_limit', f, 4_000_000),
      series('headgate_rate_limit_limit', rpm, 100),
      series('headgate_rate_target', { ...f, headgate_source: 'limit' }, 50),
      series('headgate_rate_ceiling', f, 40),
    ];
  });
  const a = { instance: 'a', headgate_name: 'f' };
  const b = { instance: 'b', headgate_name: 'f' };
  return [
    ...all,
    series('headgate_request_active', a, 6),
    series('headgate_request_active', b, 4),
    series('headgate_byte_budget_usage', a, 1_000_000),
    series('headgate_byte_budget_usage', b, 2_000_000),
    series('headgate_rate_limit_usage', { ...a, headgate_limit: 'rpm' }, 30),
    series('headgate_rate_limit_usage', { ...b, headgate_limit: 'rpm' }, 40),
  ];
}

/** One instance of "o", whose API lets nothing in. */
function inOutage() {
  const o = { instance: 'a', headgate_name: 'o' };
  const modes = { normal: 0, throttled: 0, outage: 1 };
  return [
    ...Object.entries(modes).map(([mode, value]) =>
      series('headgate_mode', { ...o, headgate_mode: mode }, value),
    ),
    series('headgate_concurrency_limit', { ...o, headgate_mode: 'normal' }, 20),
    series('headgate_concurrency_limit', { ...o, headgate_mode: 'throttled' }, 20),
    series('headgate_request_active', o, 1),
  ];
}

/** Limiter "c": callers abort half of the requests in flight, and one in ten is sent again. */
function cancelling() {
  const c = { instance: 'a', headgate_name: 'c' };
  return [
    series('headgate_requests_total', { ...c, headgate_outcome: 'ok' }, 0, 10),
    series('headgate_requests_total', { ...c, headgate_outcome: 'cancelled' }, 0, 10),
    series('headgate_attempts_total', c, 0, 10),
    series('headgate_attempts_total', { ...c, error_type: 'cancelled' }, 0, 10),
    series('headgate_attempts_total', { ...c, error_type: '500' }, 0, 1),
  ];
}

interface Case {
  readonly panel: string;
  /** Which of its queries. */
  readonly query?: number;
  /** The instances that are chosen: a regular expression. */
  readonly instance?: string;
  /** The limiters that are chosen. Default "n". */
  readonly limiter?: string;
  readonly labels?: Labels;
  readonly value: number;
}

const CASES: readonly Case[] = [
  { panel: 'In flight, against the limit', query: 0, value: 25 },
  { panel: 'In flight, against the limit', query: 1, value: 74 },
  { panel: 'In flight, against the limit', query: 1, instance: 'a', value: 10 },
  { panel: 'In flight, against the limit', query: 1, instance: 'a|b', value: 74 },
  { panel: 'How much of the limits is used', query: 0, value: 0.9 },
  { panel: 'How much of the limits is used', query: 0, instance: 'b', value: 0.25 },
  { panel: 'How much of the limits is used', query: 1, value: 1 },
  { panel: 'How much of the limits is used', query: 2, value: 1 },
  {
    panel: 'Use of each rate limit',
    labels: { headgate_name: 'n', headgate_limit: 'rpm' },
    value: 1,
  },
  { panel: 'Bytes in flight, against the budget', query: 1, value: 10_000_000 },
  { panel: 'Progress', query: 0, value: 0.25 },
  { panel: 'Progress', query: 1, value: 150 },
  { panel: 'Mode', labels: { headgate_name: 'n' }, value: 1 },
  { panel: 'Mode', instance: 'b', labels: { headgate_name: 'n' }, value: 0 },
  { panel: 'Time that went into waiting', value: 0.75 },
  { panel: 'Retries a request', limiter: 'c', value: 0.1 },
  { panel: 'Retries a request, over time', limiter: 'c', value: 0.1 },
  { panel: 'Where the time of requests goes', query: 1, value: 25 },
  { panel: 'In flight, against the limit', limiter: 'f', query: 0, value: 10 },
  { panel: 'In flight, against the limit', limiter: 'f', query: 1, value: 10 },
  { panel: 'In flight, against the limit', limiter: 'f|n', query: 1, value: 84 },
  { panel: 'In flight, against the limit', limiter: 'o', query: 1, value: 20 },
  { panel: 'Bytes in flight, against the budget', limiter: 'f', query: 1, value: 4_000_000 },
  { panel: 'How much of the limits is used', limiter: 'f', query: 0, value: 1 },
  { panel: 'How much of the limits is used', limiter: 'f', query: 1, value: 0.75 },
  { panel: 'How much of the limits is used', limiter: 'f', query: 2, value: 0.7 },
  { panel: 'How much of the limits is used', limiter: 'o', query: 0, value: 0.05 },
  {
    panel: 'Use of each rate limit',
    limiter: 'f',
    labels: { headgate_name: 'f', headgate_limit: 'rpm' },
    value: 0.7,
  },
  {
    panel: 'Adaptive rate and interval',
    limiter: 'f',
    labels: { headgate_name: 'f', headgate_source: 'limit' },
    value: 50,
  },
  {
    panel: 'Adaptive rate and interval',
    limiter: 'f',
    query: 1,
    labels: { headgate_name: 'f' },
    value: 40,
  },
  { panel: 'Adaptive rate', limiter: 'f', labels: { headgate_source: 'limit' }, value: 50 },
  { panel: 'Left of each rate limit', limiter: 'f', labels: { headgate_limit: 'rpm' }, value: 30 },
];

const PANELS = Object.values(dashboards()).flatMap(panelsOf);

function expressionOf({ panel, query = 0, instance = '.*', limiter = 'n' }: Case): string {
  const found = PANELS.find(({ title }) => title === panel);
  const expression = found === undefined ? undefined : expressionsOf(found)[query];
  if (expression === undefined) throw new Error(`no query ${query} on "${panel}"`);
  const chosen = { job: 'j', limiter, instance, __rate_interval: '1m', __interval: '15s' };
  return filled(expression, chosen);
}

function written(one: Case): string {
  const labels = Object.entries(one.labels ?? {}).map(([key, value]) => `${key}="${value}"`);
  return stringify({
    rule_files: [],
    evaluation_interval: `${EVERY}s`,
    tests: [
      {
        interval: `${EVERY}s`,
        input_series: [...twoInstances(), ...fleet(), ...inOutage(), ...cancelling()],
        promql_expr_test: [
          {
            // Versions of Prometheus differ in the last digits of a rate.
            expr: `round(${expressionOf(one)}, 0.0001)`,
            eval_time: `${SECONDS}s`,
            exp_samples: [{ labels: `{${labels}}`, value: one.value }],
          },
        ],
      },
    ],
  });
}

describe.skipIf(!canRun('promtool'))('two instances of one limiter', () => {
  let folder: string;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'headgate-instances-'));
  });

  afterAll(() => rm(folder, { recursive: true }));

  test.each(CASES)(
    '$panel, query $query, limiter $limiter, instances $instance: $value',
    async (one) => {
      const files = [join(folder, 'scraped.test.yml'), join(folder, 'taken-in.test.yml')];
      const text = written(one);
      await Promise.all([text, renamed(text)].map((each, at) => writeFile(files[at] ?? '', each)));
      expect(await promtool('test', 'rules', ...files)).toContain('SUCCESS');
    },
  );
});
