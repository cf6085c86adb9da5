import { BatchError, codeOf, messageOf } from '../errors.ts';

/** The packages of the queue, which are loaded only if a queue is used. */
export interface QueuePackages {
  readonly bullmq: typeof import('bullmq');
  readonly Redis: typeof import('ioredis').Redis;
}

interface Imports {
  readonly bullmq: () => Promise<QueuePackages['bullmq']>;
  readonly ioredis: () => Promise<Pick<QueuePackages, 'Redis'>>;
}

const IMPORTS: Imports = { bullmq: () => import('bullmq'), ioredis: () => import('ioredis') };

/**
 * @param imports for tests
 * @throws BatchError that names the packages to install
 */
export async function loadQueuePackages(imports: Imports = IMPORTS): Promise<QueuePackages> {
  const [bullmq, ioredis] = await Promise.allSettled([imports.bullmq(), imports.ioredis()]);
  if (bullmq.status === 'fulfilled' && ioredis.status === 'fulfilled') {
    return { bullmq: bullmq.value, Redis: ioredis.value.Redis };
  }
  const missing = Object.entries({ bullmq, ioredis }).flatMap(([name, loaded]) =>
    isMissing(name, loaded) ? [name] : [],
  );
  if (missing.length === 0) {
    throw bullmq.status === 'rejected' ? bullmq.reason : (ioredis as PromiseRejectedResult).reason;
  }
  const [packages, them] = missing.length === 1 ? ['package', 'it'] : ['packages', 'them'];
  const advice = `install ${them} beside headgate: npm install ${missing.join(' ')}`;
  throw new BatchError(`--redis needs the ${packages} ${missing.join(' and ')}; ${advice}`);
}

/** Whether this package is not there; one that it imports may be missing, too. */
function isMissing(name: string, loaded: PromiseSettledResult<unknown>): boolean {
  if (loaded.status === 'fulfilled' || codeOf(loaded.reason) !== 'ERR_MODULE_NOT_FOUND') {
    return false;
  }
  return messageOf(loaded.reason).includes(`'${name}'`);
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
