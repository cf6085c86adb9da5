/**
 * Draws both dashboards from the answers of a real Prometheus to every query of every panel, for a
 * real run of 75 s of several processes on one Redis: `npm run pictures:dashboards [folder]`. It
 * follows the options of a panel: units, texts and colours of states, levels, stacks, axes,
 * legends. Look at both pictures after each change of a panel. Needs `prometheus` and
 * `redis-server`, which Debian has.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Dashboard, Panel } from '@grafana/grafana-foundation-sdk/dashboard';
import { dashboards } from '../../../dashboards/src/dashboards.ts';
import { filled, placedOn } from '../../../test/dashboards/panels.ts';
import { type Prometheus, startPrometheus } from '../../../test/dashboards/programs.ts';
import { type Field, fieldOf, legendOf } from './fields.ts';
import { drawPanel } from './panels.ts';
import type { Mark } from './parts.ts';
import { LIMITERS, startRun } from './run.ts';
import { INK, picture, text } from './svg.ts';

const RUN_SECONDS = 75;
const STEP = 2;
/** The smallest interval at which Grafana queries annotations. */
const MARK_STEP = 5;
const WIDTH = 1_440;
/** Grafana's grid: 24 columns, and rows of 30 px with gaps of 8. */
const COLUMN = WIDTH / 24;
const ROW = 38;
const GAP = 8;

const config = (urls: readonly string[]) => `
global: { scrape_interval: 1s, scrape_timeout: 1s }
scrape_configs:
  - job_name: pictures
    static_configs: [{ targets: [${urls.map((url) => `'${new URL(url).host}'`).join(', ')}] }]
`;

interface Target {
  readonly expr: string;
  readonly legendFormat?: string;
  readonly instant?: boolean;
}

/** One run, for queries. */
interface Asked {
  readonly prometheus: Prometheus;
  readonly limiter: string;
  readonly from: number;
  readonly to: number;
}

function chosenIn(expression: string, { limiter }: Asked): string {
  return filled(expression, { job: 'pictures', limiter, __rate_interval: '5s', __interval: '5s' });
}

async function fieldsOf(panel: Panel, asked: Asked): Promise<Field[]> {
  const fields: Field[] = [];
  for (const { expr, legendFormat = '', instant } of (panel.targets ?? []) as unknown as Target[]) {
    const expression = chosenIn(expr, asked);
    const series = instant
      ? (await asked.prometheus.query(expression)).map(({ metric, value }) => ({
          metric,
          values: [value],
        }))
      : await asked.prometheus.range(expression, asked.from, asked.to, STEP);
    for (const each of series) {
      fields.push(fieldOf(panel, legendOf(legendFormat, each.metric), each, fields.length));
    }
  }
  return fields;
}

/** The times of a dashboard's annotations. */
async function marksOf({ annotations }: Dashboard, asked: Asked): Promise<Mark[]> {
  const marks: Mark[] = [];
  for (const { target, iconColor = INK, builtIn } of annotations.list ?? []) {
    if (builtIn === 1 || target === undefined) continue;
    const { expr } = target as unknown as Target;
    const found = await asked.prometheus.range(
      chosenIn(expr, asked),
      asked.from,
      asked.to,
      MARK_STEP,
    );
    for (const { values } of found) {
      for (const [time] of values) marks.push({ time, colour: iconColor });
    }
  }
  return marks;
}

async function drawn(dashboard: Dashboard, asked: Asked): Promise<string> {
  const marks = await marksOf(dashboard, asked);
  const parts: string[] = [];
  let height = 0;
  for (const placed of placedOn(dashboard)) {
    const { x = 0, y = 0, w = 24, h = 1 } = placed.gridPos ?? {};
    const box = { x: x * COLUMN + GAP / 2, y: y * ROW, w: w * COLUMN - GAP, h: h * ROW - GAP };
    height = Math.max(height, box.y + box.h + GAP);
    if (placed.type === 'row') {
      parts.push(text(box.x + 6, box.y + 20, `⌄ ${placed.title}`, INK, 14, 'start', 500));
      continue;
    }
    const panel = placed as Panel;
    const fields = await fieldsOf(panel, asked);
    const { from, to } = asked;
    parts.push(drawPanel({ panel, fields, marks, from, to }, box));
  }
  return picture(dashboard.title ?? '', WIDTH, height, parts.join('\n'));
}

const folder = process.argv[2] ?? join('build', 'pictures', 'dashboards');
mkdirSync(folder, { recursive: true });
const run = await startRun();
const prometheus = await startPrometheus(config(run.urls));
try {
  await sleep(RUN_SECONDS * 1_000);
  const to = Math.floor(Date.now() / 1_000);
  const span = { prometheus, from: to - RUN_SECONDS, to };
  for (const [file, dashboard] of Object.entries(dashboards())) {
    const limiter = file.startsWith('why') ? (LIMITERS[1] ?? '') : LIMITERS.join('|');
    const path = join(folder, file.replace('.json', '.svg'));
    writeFileSync(path, await drawn(dashboard, { ...span, limiter }));
    console.log(path);
  }
} finally {
  await prometheus.stop();
  await run.stop();
}
// Exit here: requests that still wait for a provider keep the process alive.
process.exit();
