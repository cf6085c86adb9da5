/** The context that a measurement is given. */
import type { ClientName } from '../clients/index.ts';
import type { LoadResult } from '../job.ts';
import type { RedisServer } from '../redis-server.ts';
import type { Limit, Setup } from '../setup.ts';
import type { WorkerProcess } from '../worker-process.ts';

export interface Context {
  readonly redis: RedisServer;
  readonly client: ClientName;
  readonly workers: readonly WorkerProcess[];
  /** The duration of a load, in seconds. */
  readonly seconds: number;
  /** Starts another worker, without connecting it. */
  spawn(): WorkerProcess;
}

/** The window of the limits: long enough to bind, and short enough to measure. */
export function limitOf(seconds: number, perSecond: number): Limit {
  const windowS = Math.max(1, Math.floor(seconds * 0.7));
  return { requests: perSecond * windowS, windowMs: windowS * 1_000 };
}

let keys = 0;

/** Connects all workers to a new key. */
export async function connectAll(
  { client, workers, redis }: Pick<Context, 'client' | 'workers' | 'redis'>,
  shared: Pick<Setup, 'limit' | 'slots'>,
): Promise<Setup> {
  keys += 1;
  const setup = { ...shared, port: redis.port, key: `key-${keys}` };
  await Promise.all(workers.map((worker) => worker.connect(client, setup)));
  return setup;
}

/** Ends loads, and closes the clients. */
export async function endAll(workers: readonly WorkerProcess[]): Promise<LoadResult[]> {
  const results = await Promise.all(workers.map((worker) => worker.stop()));
  await Promise.all(workers.map((worker) => worker.close()));
  return results;
}
