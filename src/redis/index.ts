/** `headgate/redis`: the limits of one API key, shared by processes through Redis or Valkey. */
import { createHash } from 'node:crypto';
import { hostname } from 'node:os';
import { joinFleet } from '../fleet/fleet.ts';
import type { ExchangeReply, ExchangeRequest, WorkerShare } from '../fleet/protocol.ts';
import {
  checkStoreSettings,
  type SharedStore,
  STORE_KEYS,
  type StoreSettings,
} from '../fleet/shared-store.ts';
import { checkKeys, checkMethods, wrongType } from '../util/check.ts';
import { messageOf } from '../util/print.ts';
import { argumentOf, SCRIPT, WORKERS_SCRIPT } from './script.ts';

export type { ExchangeReply, ExchangeRequest, WorkerShare } from '../fleet/protocol.ts';
export type { OnStoreLoss, SharedStore, StoreSettings } from '../fleet/shared-store.ts';

/** The methods of node-redis (`redis`) that the store uses. */
interface NodeRedisClient {
  eval(script: string, options: { keys: string[]; arguments: string[] }): Promise<unknown>;
  evalSha(sha: string, options: { keys: string[]; arguments: string[] }): Promise<unknown>;
}

/** The methods of ioredis and iovalkey that the store uses. */
interface IoRedisClient {
  eval(script: string, keys: number, ...rest: string[]): Promise<unknown>;
  evalsha(sha: string, keys: number, ...rest: string[]): Promise<unknown>;
}

/** A connected client of node-redis, ioredis or iovalkey; of a server or of a cluster. */
export type RedisClient = NodeRedisClient | IoRedisClient;

/** Options of {@link redisStore}. */
export interface RedisStoreOptions extends StoreSettings {
  /**
   * A name for the API key, not the secret itself: limiters with the same name act as one. All
   * Redis keys contain it as their only hash tag, so that they are in one slot of a cluster.
   */
  readonly key: string;
}

/** The parts of the state of a key. Each is in its own Redis key. */
const PARTS = ['state', 'workers', 'leases', 'active', 'reports', 'learned'] as const;

/**
 * A store in Redis 7 or Valkey, for the `shared` option of limiters in any number of processes. One
 * atomic script decides, by the clock of the server. It stores only the costs of requests. The
 * caller connects the client, configures its TLS and password, and closes it.
 *
 * @throws RangeError or TypeError that names a wrong option
 * @example
 * const client = createClient({ url: 'redis://localhost:6379', disableOfflineQueue: true });
 * client.on('error', () => {}); // without a listener an error of the client ends the process
 * await client.connect();
 * const limiter = createLimiter({
 *   requestsPerMinute: 10_000,
 *   shared: redisStore(client, { key: 'openai:org-1' }),
 * });
 */
export function redisStore(client: RedisClient, options: RedisStoreOptions): SharedStore {
  checkKeys('redisStore', options, [...STORE_KEYS, 'key']);
  const { key, ...settings } = options;
  if (typeof key !== 'string' || !/^[^{}]+$/.test(key)) {
    wrongType('key', 'a string without braces that is not empty', key);
  }
  checkStoreSettings(settings);
  const call = callerOf(client, SCRIPT);
  const tell = callerOf(client, WORKERS_SCRIPT);
  const host = hostname()
    .replace(/[^\w.-]/g, '-')
    .slice(0, 48);
  const storeOf = (tag: string): SharedStore => {
    const keys = PARTS.map((part) => `{${tag}}:headgate:${part}`);
    return {
      worker: `${host}:${process.pid}`,
      ...settings,
      join: joinFleet,
      exchange: async (request: ExchangeRequest) =>
        JSON.parse(String(await call(keys, [argumentOf(request)]))) as ExchangeReply,
      workers: async () => JSON.parse(String(await tell(keys, []))) as WorkerShare[],
      of: (name) => storeOf(`${tag}:${digestOf(name)}`),
    };
  };
  return storeOf(key);
}

/** A hash that names a key in Redis: the name itself may be that of a customer, or a secret. */
function digestOf(name: string): string {
  return createHash('sha256').update(name).digest('hex');
}

type Call = (keys: string[], args: string[]) => Promise<unknown>;

/** @throws TypeError if `client` is not a client */
function callerOf(client: RedisClient, script: string): Call {
  checkMethods('client', client, ['eval']);
  const sha = createHash('sha1').update(script).digest('hex');
  const [bySha, byText]: readonly [Call, Call] = isNodeRedis(client)
    ? [
        (keys, args) => client.evalSha(sha, { keys, arguments: args }),
        (keys, args) => client.eval(script, { keys, arguments: args }),
      ]
    : [
        (keys, args) => ioRedis(client).evalsha(sha, keys.length, ...keys, ...args),
        (keys, args) => ioRedis(client).eval(script, keys.length, ...keys, ...args),
      ];
  if (!isNodeRedis(client)) ioRedis(client);
  return async (keys, args) => {
    try {
      return await bySha(keys, args);
    } catch (error) {
      if (!messageOf(error).startsWith('NOSCRIPT')) throw error;
      return await byText(keys, args);
    }
  };
}

function isNodeRedis(client: RedisClient): client is NodeRedisClient {
  return typeof (client as Partial<NodeRedisClient>).evalSha === 'function';
}

function ioRedis(client: RedisClient): IoRedisClient {
  checkMethods('client', client, ['evalsha']);
  return client as IoRedisClient;
}
