/** Runs the measurements on real processes and a real Redis. */
import { mkdtemp, rm } from 'node:fs/promises';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { reasonOf } from '../reason.ts';
import { type ClientName, PEERS } from './clients/index.ts';
import type { Figures } from './goals.ts';
import { measureCalls } from './measures/calls.ts';
import { measureChurn } from './measures/churn.ts';
import type { Context } from './measures/context.ts';
import { measureKill } from './measures/kill.ts';
import { measureLimits } from './measures/limits.ts';
import { measureRestart } from './measures/restart.ts';
import { measureWaits } from './measures/waits.ts';
import type { Options, Part } from './options.ts';
import { RedisServer } from './redis-server.ts';
import { WorkerProcess } from './worker-process.ts';

type Measure = (context: Context) => Promise<Figures>;

/** The order matters: `kill` and `churn` end the workers. */
const MEASURES: readonly (readonly [Part, Measure])[] = [
  ['limits', measureLimits],
  ['calls', measureCalls],
  ['waits', measureWaits],
  ['restart', measureRestart],
  ['kill', measureKill],
];
const PEER_MEASURES: readonly (readonly [string, Measure])[] = [
  ['limits', measureLimits],
  ['waits', measureWaits],
];
const PEER_PROCESSES = 4;

/** The figures of one client with a number of processes. */
export interface Column {
  readonly client: ClientName;
  readonly processes: number;
  readonly figures: Figures;
  /** The machine's load average before the run, which other programs may have caused. */
  readonly load: number;
  /** The reason why a figure is missing, by measurement. */
  readonly failures: Readonly<Record<string, string>>;
}

/** @param told called with a line for each measurement */
export async function runAll(options: Options, told: (line: string) => void): Promise<Column[]> {
  const chosen = MEASURES.filter(([part]) => options.parts.includes(part));
  const columns: Column[] = [];
  if (chosen.length > 0 || options.parts.includes('churn')) {
    const most = Math.max(...options.processes);
    for (const processes of options.processes) {
      const isMost = processes === most && options.parts.includes('churn');
      const churn = isMost ? [['churn', measureChurn] as const] : [];
      columns.push(await runColumn('headgate', processes, [...chosen, ...churn], options, told));
    }
  }
  if (options.parts.includes('peers')) {
    const processes = Math.min(PEER_PROCESSES, ...options.processes);
    for (const client of ['headgate', ...PEERS] as const) {
      columns.push(await runColumn(client, processes, PEER_MEASURES, options, told));
    }
  }
  return columns;
}

async function runColumn(
  client: ClientName,
  processes: number,
  measures: readonly (readonly [string, Measure])[],
  { seconds }: Options,
  told: (line: string) => void,
): Promise<Column> {
  const [load = Number.NaN] = loadavg();
  const folder = await mkdtemp(join(tmpdir(), 'headgate-fleet-'));
  const redis = await RedisServer.start();
  const failures: Record<string, string> = {};
  let figures: Figures = {};
  try {
    for (const [name, measure] of measures) {
      const spawned: WorkerProcess[] = [];
      const spawn = () => {
        const worker = new WorkerProcess(folder);
        spawned.push(worker);
        return worker;
      };
      const workers = Array.from({ length: processes }, spawn);
      try {
        const found = await measure({ redis, client, workers, seconds, spawn });
        figures = { ...figures, ...found };
        told(`${client}, ${processes} processes, ${name}: ${JSON.stringify(found)}`);
      } catch (error) {
        failures[name] = reasonOf(error);
        told(`${client}, ${processes} processes, ${name} failed: ${failures[name]}`);
      } finally {
        await Promise.all(spawned.map((worker) => worker.kill()));
      }
    }
  } finally {
    await redis.stop();
    await rm(folder, { recursive: true, force: true });
  }
  return { client, processes, figures, load, failures };
}
