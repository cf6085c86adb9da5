import { BatchError, codeOf } from '../errors.ts';

/** The packages of the queue, which are loaded only if a queue is used. */
export interface QueuePackages {
  readonly bullmq: typeof import('bullmq');
  readonly Redis: typeof import('ioredis').Redis;
}

/** @throws BatchError that names the packages to install */
export async function loadQueuePackages(): Promise<QueuePackages> {
  try {
    const [bullmq, { Redis }] = await Promise.all([import('bullmq'), import('ioredis')]);
    return { bullmq, Redis };
  } catch (error) {
    if (codeOf(error) !== 'ERR_MODULE_NOT_FOUND') throw error;
    const advice = 'install them beside headgate: npm install bullmq ioredis';
    throw new BatchError(`--redis needs the packages bullmq and ioredis; ${advice}`);
  }
}

const CONNECT_MS = 10_000;

/** Whether calls wait or fail while the connection to Redis is lost. */
const WHILE_AWAY = {
  wait: { maxRetriesPerRequest: null },
  fail: { enableOfflineQueue: false, maxRetriesPerRequest: 1 },
} as const;

/**
 * Connects to a Redis.
 * @param whileAway whether calls wait or fail while the connection is lost later
 * @throws BatchError if Redis cannot be reached
 */
export async function connectRedis(
  { Redis }: QueuePackages,
  url: string,
  whileAway: keyof typeof WHILE_AWAY = 'wait',
) {
  if (!URL.canParse(url) || !/^rediss?:$/.test(new URL(url).protocol)) {
    throw new BatchError('--redis must be a redis or rediss URL, such as redis://127.0.0.1:6379');
  }
  const { pathname } = new URL(url);
  if (!/^\/?\d*$/.test(pathname)) {
    throw new BatchError(`--redis must end with the number of a database, got "${pathname}"`);
  }
  const client = new Redis(url, { ...WHILE_AWAY[whileAway], lazyConnect: true });
  let problem = 'it does not answer';
  const onError = (error: Error) => {
    problem = error.message;
  };
  client.on('error', onError);
  const timer = setTimeout(() => client.disconnect(), CONNECT_MS);
  try {
    await client.connect();
    await client.ping();
    // ioredis would use database 0 if there is no database of this number.
    const { db } = client.options;
    if (db) await client.select(db);
    return client;
  } catch (error) {
    client.disconnect();
    if (error instanceof Error && !/closed/.test(error.message)) problem = error.message;
    throw new BatchError(`--redis ${new URL(url).host}: ${problem}`, { cause: error });
  } finally {
    clearTimeout(timer);
  }
}
