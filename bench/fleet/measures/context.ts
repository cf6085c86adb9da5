/** What a measurement gets. */
import type { ClientName } from '../clients/index.ts';
import type { LoadResult } from '../job.ts';
import type { RedisServer } from '../redis-server.ts';
import type { Limit, Setup } from '../setup.ts';
import type { WorkerProcess } from '../worker-process.ts';

export interface Context {
  readonly redis: RedisServer;
  readonly client: ClientName;
  readonly workers: readonly WorkerProcess[];
  /** How long a load lasts, in seconds. */
  readonly seconds: number;
  /** Another worker, which is not connected. */
  spawn(): WorkerProcess;
}

/** Long enough for a limit to be a limit, and short enough to be measured. */
export function limitOf(seconds: number, perSecond: number): Limit {
  const windowS = Math.max(1, Math.floor(seconds * 0.7));
  return { requests: perSecond * windowS, windowMs: windowS * 1_000 };
}

let keys = 0;

/** Connects all workers to a key of their own. */
export async function connectAll(
  { client, workers, redis }: Pick<Context, 'client' | 'workers' | 'redis'>,
  shared: Pick<Setup, 'limit' | 'slots'>,
): Promise<Setup> {
  keys += 1;
  const setup = { ...shared, port: redis.port, key: `key-${keys}` };
  await Promise.all(workers.map((worker) => worker.connect(client, setup)));
  return setup;
}

/** Ends loads, and gives up the clients. */
export async function endAll(workers: readonly WorkerProcess[]): Promise<LoadResult[]> {
  const results = await Promise.all(workers.map((worker) => worker.stop()));
  await Promise.all(workers.map((worker) => worker.close()));
  return results;
}
