/** Runs every client against every server, each in its own process, except for cold runs. */
import { execFile } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import pLimit from 'p-limit';
import { reasonOf } from '../reason.ts';
import { type Cell, type Cells, cellOf, type Row } from './cells.ts';
import { type ClientName, isOwn } from './clients/index.ts';
import type { Job, Run } from './job.ts';
import { type ServerName, servers } from './kinds/index.ts';
import { idealMs } from './limit.ts';
import type { Options } from './options.ts';
import { runJob } from './run-job.ts';
import type { Server } from './server.ts';

const WORKER = fileURLToPath(new URL('./worker.js', import.meta.url));

/**
 * A client may take this multiple of the ideal time, plus a minute: enough for a start with
 * retries.
 */
const BOUND_FACTOR = 4;
const BOUND_MORE_MS = 60_000;

/** A process that exceeds its bound by this time is killed. */
const WORKER_MORE_MS = 120_000;

export interface Results {
  readonly cells: Cells;
  /** The reasons for missing figures, by server and client. */
  readonly failures: Readonly<Record<string, string>>;
}

/** @param told called with each figure */
export async function runAll(
  options: Options,
  names: readonly ServerName[],
  told: (name: string, cell: Cell) => void,
): Promise<Results> {
  const { clients, parallel, apartMs } = options;
  const slots = pLimit(parallel);
  const starts = pLimit(1);
  const rows = new Map(names.map((name) => [name, new Map<ClientName, Cell>()]));
  const failures: Record<string, string> = {};
  const measure = async (server: ServerName, client: ClientName) => {
    const name = `${server} ${client}`;
    await starts(() => sleep(apartMs));
    try {
      const cell = await runOne(servers[server], client, options);
      rows.get(server)?.set(client, cell);
      told(name, cell);
    } catch (error) {
      failures[name] = reasonOf(error);
    }
  };
  // Order runs by client, then by server, so that runs at the same time use different servers.
  const runs = clients.flatMap((client) =>
    names.map((server) => slots(() => measure(server, client))),
  );
  await Promise.all(runs);
  return { cells: inOrder(rows, clients), failures };
}

async function runOne(
  server: Server,
  client: ClientName,
  { requests, boundMs: ownMs, peerBoundMs, isCold }: Options,
): Promise<Cell> {
  const { limit, latencyMs } = server;
  const ideal = idealMs(limit, latencyMs, requests);
  const longestMs = isOwn(client) ? ownMs : peerBoundMs;
  const boundMs = Number.isFinite(longestMs) ? longestMs : BOUND_FACTOR * ideal + BOUND_MORE_MS;
  const { endpoint, close } = await server.open();
  try {
    const job: Job = { client, endpoint, limit, requests, boundMs };
    return cellOf(await (isCold ? runJob(job) : runWorker(job)), requests, ideal);
  } finally {
    await close();
  }
}

async function runWorker(job: Job): Promise<Run> {
  const { stdout } = await promisify(execFile)(process.execPath, [WORKER, JSON.stringify(job)], {
    timeout: job.boundMs + WORKER_MORE_MS,
  });
  const run: Run = JSON.parse(stdout);
  return run;
}

/** Sorts cells in the order of the table, since runs end in any order. */
function inOrder(
  rows: ReadonlyMap<ServerName, Row>,
  clients: readonly ClientName[],
): Map<ServerName, Row> {
  const sorted = [...rows].map(([server, row]) => {
    const cells = clients.flatMap((client) => {
      const cell = row.get(client);
      return cell === undefined ? [] : [[client, cell] as const];
    });
    return [server, new Map(cells)] as const;
  });
  return new Map(sorted);
}
