/** Runs processes that share the limits of one key through a private `redis-server`. */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { SharedStore } from 'headgate/advanced';
import { redisStore } from 'headgate/redis';
import { createClient } from 'redis';
import { startRedis } from '../../../test/support/redis.ts';

/** The pause of each process between its requests, in ms. The loads differ. */
const WORKERS_EVERY_MS = [180, 260, 420];

/** When the store is stopped after the start, and for how long, in ms. */
const AWAY_FROM_MS = 30_000;
const AWAY_MS = 6_000;

/** When one of the workers is killed. */
const KILL_AT_MS = 62_000;

export interface Fleet {
  readonly redisUrl: string;
  /** The addresses of the workers' metrics pages. */
  readonly urls: readonly string[];
  stop(): Promise<void>;
}

/** A connection of one process to the store. */
export async function openStore(url: string): Promise<{ shared: SharedStore; close(): void }> {
  const client = createClient({
    url,
    disableOfflineQueue: true,
    socket: { reconnectStrategy: 200 },
  });
  client.on('error', () => {});
  await client.connect();
  return {
    shared: redisStore(client, { key: 'pictures:batch' }),
    close: () => client.destroy(),
  };
}

/** Starts the store and the workers; stops the store for some seconds, and kills a worker. */
export async function startFleet(): Promise<Fleet> {
  const redis = await startRedis();
  const file = fileURLToPath(new URL('worker.js', import.meta.url));
  const workers = WORKERS_EVERY_MS.map((everyMs) => fork(file, [redis.url, `${everyMs}`]));
  const urls = await Promise.all(workers.map(urlOf));
  const timers = [
    setTimeout(() => redis.process.kill('SIGSTOP'), AWAY_FROM_MS),
    setTimeout(() => redis.process.kill('SIGCONT'), AWAY_FROM_MS + AWAY_MS),
    setTimeout(() => workers[0]?.kill('SIGKILL'), KILL_AT_MS),
  ];
  return {
    redisUrl: redis.url,
    urls,
    async stop() {
      for (const timer of timers) clearTimeout(timer);
      for (const worker of workers) worker.kill('SIGKILL');
      redis.process.kill('SIGCONT');
      await redis.stop();
    },
  };
}

/** The address that a worker prints when it runs. */
async function urlOf(worker: ChildProcess): Promise<string> {
  const failed = once(worker, 'exit').then(([code]) => {
    throw new Error(`a worker ended with ${code}`);
  });
  const [url] = (await Promise.race([once(worker, 'message'), failed])) as [unknown];
  failed.catch(() => {});
  return String(url);
}
