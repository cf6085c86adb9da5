/** Measures headgate against its peers: README.md beside this file says what and how. */
import { execFile } from 'node:child_process';
import { availableParallelism, cpus } from 'node:os';
import { fileURLToPath } from 'node:url';
import { parseArgs, promisify } from 'node:util';
import type { Client, ClientName } from './clients/index.ts';
import { clients, isClientName } from './clients/index.ts';
import type { Summary } from './statistics.ts';
import { summarize } from './statistics.ts';
import type { Job, Measured } from './worker.ts';

const WORKER = fileURLToPath(new URL('./worker.js', import.meta.url));
const WORKER_TIMEOUT_MS = 10 * 60_000;
const MIN_ROUNDS = 5;
const MIN_TASKS = 1_000;
const USAGE = 'usage: npm run bench -- [--json] [--rounds N] [--tasks N] [--only name,name]';

type CostName = 'per-request-10k' | 'per-request-1M' | 'waiting-request' | 'waiting-run';
type Name = ClientName | CostName;

interface Options {
  readonly json: boolean;
  readonly rounds: number;
  readonly jobs: ReadonlyMap<Name, Job>;
}

interface Results {
  /** Tasks/s of a client, nanoseconds of `per-request-*`, bytes of `waiting-*`: one a round. */
  readonly runs: ReadonlyMap<Name, number[]>;
  readonly failures: ReadonlyMap<Name, string>;
}

type Goal = readonly [text: string, figure: number | null, sign: '>=' | '<=', bound: number];

type Summaries = ReadonlyMap<Name, Summary>;

class UsageError extends Error {}

function planJobs(tasks: number): Map<Name, Job> {
  const jobs = new Map<Name, Job>();
  for (const [client, { warmUp, maxTasks = tasks }] of Object.entries<Client>(clients)) {
    if (isClientName(client)) {
      const count = Math.min(tasks, maxTasks);
      jobs.set(client, { measure: 'time', client, tasks: count, repeat: 1, warmUp });
    }
  }
  const stream = { client: 'headgate-throttle', repeat: 1, warmUp: 20_000 } as const;
  const waiting = { ...stream, measure: 'memory', tasks: 200_000 } as const;
  // As many requests in all as the long stream has, so that both spend the same share of them in
  // code that is not yet compiled.
  jobs.set('per-request-10k', { ...stream, measure: 'time', tasks: 10_000, repeat: 100 });
  jobs.set('per-request-1M', { ...stream, measure: 'time', tasks: 1_000_000 });
  jobs.set('waiting-request', waiting);
  jobs.set('waiting-run', { ...waiting, client: 'headgate-run' });
  return jobs;
}

function readOptions(args: string[]): Options {
  const { values } = parseArgs({
    args,
    options: {
      json: { type: 'boolean', default: false },
      rounds: { type: 'string', default: `${MIN_ROUNDS}` },
      tasks: { type: 'string', default: '200000' },
      only: { type: 'string' },
    },
  });
  const rounds = readInteger('--rounds', values.rounds, MIN_ROUNDS);
  const jobs = planJobs(readInteger('--tasks', values.tasks, MIN_TASKS));
  if (values.only === undefined) {
    return { json: values.json, rounds, jobs };
  }
  const wanted = new Set<string>(values.only.split(',').map((name) => name.trim()));
  const known: ReadonlySet<string> = new Set(jobs.keys());
  for (const name of wanted) {
    if (!known.has(name)) {
      throw new UsageError(`--only takes any of ${[...known].join(', ')}; got "${name}"`);
    }
  }
  const chosen = new Map([...jobs].filter(([name]) => wanted.has(name)));
  return { json: values.json, rounds, jobs: chosen };
}

function readInteger(option: string, text: string, min: number): number {
  const value = Number(text);
  if (!/^\d+$/.test(text) || !Number.isSafeInteger(value) || value < min) {
    throw new UsageError(`${option} must be an integer >= ${min}, got "${text}"`);
  }
  return value;
}

/** Every round measures each of them once, so that what disturbs the machine disturbs them all. */
async function measureAll({ jobs, rounds }: Options): Promise<Results> {
  const runs = new Map<Name, number[]>([...jobs.keys()].map((name) => [name, []]));
  const failures = new Map<Name, string>();
  for (let round = 1; round <= rounds; round++) {
    for (const [name, job] of jobs) {
      if (failures.has(name)) {
        continue;
      }
      try {
        const { perTask } = await measure(job);
        const figure = isClientName(name) ? 1e9 / perTask : perTask;
        runs.get(name)?.push(figure);
        console.error(`round ${round}/${rounds}  ${name}: ${whole(figure)} ${unitOf(name)}`);
      } catch (error) {
        failures.set(name, reasonOf(error));
        runs.delete(name);
        console.error(`round ${round}/${rounds}  ${name} failed: ${error}`);
      }
    }
  }
  return { runs, failures };
}

async function measure(job: Job): Promise<Measured> {
  const flags = job.measure === 'memory' ? ['--expose-gc'] : [];
  const { stdout } = await promisify(execFile)(
    process.execPath,
    [...flags, WORKER, JSON.stringify(job)],
    { timeout: WORKER_TIMEOUT_MS },
  );
  const measured: Measured = JSON.parse(stdout);
  return measured;
}

/** The line of a worker's last words that names its error. */
function reasonOf(error: unknown): string {
  const [first = '', ...lines] = String(error).split('\n');
  return lines.find((line) => /^(\w*Error|Warning)\b.*: /.test(line)) ?? first;
}

function compare(summaries: Summaries) {
  const figure = (name: Name) => summaries.get(name)?.median ?? null;
  const ratio = (name: Name, base: Name) => {
    const [over, under] = [figure(name), figure(base)];
    return over === null || under === null ? null : over / under;
  };
  return {
    ratios: {
      throttle_vs_async_sema: ratio('headgate-throttle', 'async-sema'),
      run_vs_async_sema: ratio('headgate-run', 'async-sema'),
      throttle_vs_p_limit: ratio('headgate-throttle', 'p-limit'),
      throttle_vs_mergeMap: ratio('headgate-throttle', 'mergeMap'),
      per_request_1M_vs_10k: ratio('per-request-1M', 'per-request-10k'),
    },
    bytes_per_waiting_request: figure('waiting-request'),
    bytes_per_waiting_run: figure('waiting-run'),
  };
}

type Comparison = ReturnType<typeof compare>;

function goalsOf({ ratios, bytes_per_waiting_request }: Comparison): Goal[] {
  return [
    ['throttle() / async-sema, tasks/s', ratios.throttle_vs_async_sema, '>=', 1.5],
    ['limiter.run / async-sema, tasks/s', ratios.run_vs_async_sema, '>=', 1],
    ['cost of a request, at 1M / at 10k', ratios.per_request_1M_vs_10k, '<=', 1.2],
    ['bytes a waiting request', bytes_per_waiting_request, '<=', 400],
  ];
}

function printReport({ jobs, rounds }: Options, summaries: Summaries, compared: Comparison): void {
  console.log(
    `Node ${process.version}, ${processor()}; median of ${rounds} rounds, fresh processes`,
  );
  const base = summaries.get('async-sema')?.median;
  const clientRows = [['client', 'tasks', 'warm-up', 'tasks/s', 'min - max', 'vs async-sema']];
  const costRows = [['cost', 'requests', 'warm-up', 'median', 'min - max', '']];
  for (const [name, { tasks, repeat, warmUp }] of jobs) {
    const summary = summaries.get(name);
    const count = repeat === 1 ? whole(tasks) : `${repeat} x ${whole(tasks)}`;
    const cells = [name, count, whole(warmUp), ...cellsOf(summary)];
    if (isClientName(name)) {
      clientRows.push([...cells, ratioText(summary && base ? summary.median / base : null)]);
    } else {
      costRows.push([...cells, unitOf(name)]);
    }
  }
  const goalRows = goalsOf(compared).map(([text, figure, sign, bound]) => [
    text,
    figure === null ? '-' : bound < 10 ? ratioText(figure) : whole(figure),
    `${sign} ${bound}`,
    figure === null ? 'not measured' : isReached(figure, sign, bound) ? 'reached' : 'not reached',
  ]);
  printTable(clientRows);
  printTable(costRows);
  printTable([
    ['ratio', ''],
    ...Object.entries(compared.ratios).map(([name, ratio]) => [name, ratioText(ratio)]),
  ]);
  printTable([['goal', 'figure', 'bound', ''], ...goalRows]);
}

function isReached(figure: number, sign: Goal[2], bound: number): boolean {
  return sign === '>=' ? figure >= bound : figure <= bound;
}

function cellsOf(summary: Summary | undefined): string[] {
  return summary
    ? [whole(summary.median), `${whole(summary.min)} - ${whole(summary.max)}`]
    : ['failed', ''];
}

/** Prints rows of equal length below a heading; the first column is text, the rest figures. */
function printTable(rows: readonly string[][]): void {
  if (rows.length === 1) {
    return;
  }
  const widths = rows[0]?.map((_, column) =>
    Math.max(...rows.map((row) => row[column]?.length ?? 0)),
  );
  const lines = rows.map((row) =>
    row.map((cell, column) => {
      const width = widths?.[column] ?? 0;
      return column === 0 ? cell.padEnd(width) : cell.padStart(width);
    }),
  );
  console.log(`\n${lines.map((cells) => cells.join('  ').trimEnd()).join('\n')}`);
}

function whole(value: number): string {
  return Math.round(value).toLocaleString('en-US');
}

function ratioText(ratio: number | null): string {
  return ratio === null ? '-' : ratio.toFixed(2);
}

function unitOf(name: Name): string {
  if (isClientName(name)) {
    return 'tasks/s';
  }
  return name.startsWith('waiting') ? 'bytes a request' : 'ns a request';
}

function processor(): string {
  return `${cpus()[0]?.model ?? 'unknown CPU'}, ${availableParallelism()} cores`;
}

async function main(): Promise<void> {
  const options = readOptions(process.argv.slice(2));
  const { runs, failures } = await measureAll(options);
  const summaries = new Map([...runs].map(([name, figures]) => [name, summarize(figures)]));
  const compared = compare(summaries);
  printReport(options, summaries, compared);
  for (const [name, reason] of failures) {
    console.log(`\n${name} failed: ${reason}`);
    process.exitCode = 1;
  }
  if (options.json) {
    const medians = Object.fromEntries([...summaries].map(([name, { median }]) => [name, median]));
    const line = {
      ...compared,
      medians,
      runs: Object.fromEntries(runs),
      failures: Object.fromEntries(failures),
      jobs: Object.fromEntries(options.jobs),
      rounds: options.rounds,
      node: process.version,
      cpu: processor(),
    };
    console.log(`\n${JSON.stringify(line)}`);
  }
}

/** `parseArgs` throws TypeErrors whose codes say that the arguments are at fault. */
function isUsageError(error: unknown): error is Error {
  return (
    error instanceof UsageError ||
    (error instanceof TypeError && 'code' in error && `${error.code}`.startsWith('ERR_PARSE_ARGS'))
  );
}

try {
  await main();
} catch (error) {
  if (!isUsageError(error)) {
    throw error;
  }
  console.error(`${error.message}\n${USAGE}`);
  process.exitCode = 2;
}
