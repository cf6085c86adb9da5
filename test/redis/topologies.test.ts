import { setTimeout as sleep } from 'node:timers/promises';
import { Cluster, Redis } from 'ioredis';
import { createCluster, createSentinel } from 'redis';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { createLimiter, createLimiterGroup, type LimiterOptions } from '../../src/index.ts';
import { type RedisClient, redisStore } from '../../src/redis/index.ts';
import { canRun } from '../dashboards/programs.ts';
import { type RedisCluster, startRedisCluster } from '../support/redis-cluster.ts';
import { startRedisSentinel } from '../support/redis-sentinel.ts';
import { keepWarnings } from '../support/warnings.ts';

// Real servers, and their clocks.

let closers: (() => unknown)[] = [];
const warnings = keepWarnings();

afterEach(async () => {
  for (const close of closers.toReversed()) await close();
  closers = [];
});

/** Sends requests through a limiter for each client, and counts. */
function sendThrough(clients: readonly RedisClient[], key: string, options: LimiterOptions) {
  const counts = { inFlight: 0, most: 0, ended: 0 };
  const limiters = clients.map((client) => {
    const shared = redisStore(client, { key, ttlMs: 2_000 });
    const limiter = createLimiter({ adaptive: false, ...options, shared });
    closers.push(() => limiter.close({ waiting: 'reject' }));
    return limiter;
  });
  const send = (count: number, tookMs: number) =>
    Promise.all(
      limiters.flatMap((limiter) =>
        Array.from({ length: count }, () =>
          limiter.run(async () => {
            counts.inFlight += 1;
            counts.most = Math.max(counts.most, counts.inFlight);
            await sleep(tookMs);
            counts.inFlight -= 1;
            counts.ended += 1;
          }),
        ),
      ),
    );
  return { send, counts };
}

describe.skipIf(!canRun('redis-server'))('a store in a cluster of Redis', () => {
  let cluster: RedisCluster;
  beforeAll(async () => {
    cluster = await startRedisCluster();
  });
  afterAll(async () => {
    await cluster?.stop();
  });

  const clients = {
    'node-redis': async () => {
      const rootNodes = cluster.ports.map((port) => ({ url: `redis://127.0.0.1:${port}` }));
      const client = createCluster({ rootNodes });
      client.on('error', () => {});
      await client.connect();
      closers.push(() => client.destroy());
      return client;
    },
    ioredis: async () => {
      const client = new Cluster(cluster.ports.map((port) => ({ host: '127.0.0.1', port })));
      client.on('error', () => {});
      closers.push(() => client.disconnect());
      await new Promise((ready) => client.once('ready', ready));
      return client;
    },
  } as const;

  it.each(['node-redis', 'ioredis'] as const)(
    'keeps a limit while the slot of its key moves, with %s',
    async (kind) => {
      const key = `moves ${kind}`;
      const both = [await clients[kind](), await clients[kind]()];
      const { send, counts } = sendThrough(both, key, { concurrency: 6 });
      const sent = send(100, 20);
      while (counts.ended < 40) await sleep(5);
      expect(await cluster.moveSlotOf(`{${key}}`)).toBeGreaterThan(2);
      await sent;
      expect(counts.ended).toBe(200);
      expect(counts.most).toBe(6);
      // A call may be refused while some keys are here and some there. It is repeated.
      expect(warnings.length % 2).toBe(0);
    },
  );

  it('keeps the keys of a group in slots of their own', async () => {
    const client = await clients['node-redis']();
    const group = createLimiterGroup((key: string) => key, {
      each: { adaptive: false, concurrency: 2 },
      shared: { concurrency: 50 },
      store: redisStore(client, { key: 'app' }),
    });
    closers.push(() => group.close({ waiting: 'reject' }));
    const tenants = Array.from({ length: 12 }, (_, place) => `tenant ${place}`);
    let inFlight = 0;
    let most = 0;
    const requests = tenants.flatMap((tenant) =>
      Array.from({ length: 6 }, () =>
        group.run(tenant, async () => {
          inFlight += 1;
          most = Math.max(most, inFlight);
          await sleep(50);
          inFlight -= 1;
        }),
      ),
    );
    await Promise.all(requests);
    expect(most).toBeLessThanOrEqual(24);
    expect(most).toBeGreaterThan(12);
    expect(warnings).toEqual([]);
  });
});

describe.skipIf(!canRun('redis-server'))('a store behind a sentinel', () => {
  it('goes on when the replica takes over, with both clients', async () => {
    const sentinel = await startRedisSentinel();
    closers.push(() => sentinel.stop());
    const { port, name } = sentinel;
    const node = createSentinel({ name, sentinelRootNodes: [{ host: '127.0.0.1', port }] });
    node.on('error', () => {});
    await node.connect();
    closers.push(() => node.destroy());
    const io = new Redis({
      sentinels: [{ host: '127.0.0.1', port }],
      name,
      enableOfflineQueue: false,
      maxRetriesPerRequest: 1,
      retryStrategy: () => 100,
      sentinelRetryStrategy: () => 100,
    });
    io.on('error', () => {});
    closers.push(() => io.disconnect());
    await new Promise((ready) => io.once('ready', ready));
    const { send, counts } = sendThrough([node, io], 'behind', { concurrency: 4 });
    const sent = send(60, 20);
    while (counts.ended < 30) await sleep(5);
    await sentinel.master.kill();
    await sent;
    expect(counts.ended).toBe(120);
    expect(counts.most).toBe(4);
    // Each worker once each way, if its client does not hide it.
    const lost = warnings.filter((text) => text.includes('cannot reach'));
    expect(lost.length).toBeGreaterThanOrEqual(1);
    expect(lost.length).toBeLessThanOrEqual(2);
    const back = () => warnings.filter((text) => text.includes('reaches the shared store again'));
    await vi.waitUntil(() => back().length === lost.length, { timeout: 60_000 });
  });
});
