import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { createClient } from 'redis';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  createLimiter,
  createLimiterGroup,
  type Limiter,
  type LimiterOptions,
} from '../../src/index.ts';
import { redisStore } from '../../src/redis/index.ts';
import { canRun } from '../dashboards/programs.ts';
import { type Redis as RedisServer, startRedis } from '../support/redis.ts';
import { keepWarnings } from '../support/warnings.ts';

/** What happens takes real time: a server of its own, and its clock. */
const SOON_MS = 60_000;

async function until(isSo: () => boolean, what: string): Promise<void> {
  for (const giveUpAt = Date.now() + SOON_MS; !isSo(); await sleep(5)) {
    if (Date.now() > giveUpAt) throw new Error(`not within ${SOON_MS} ms: ${what}`);
  }
}

describe.skipIf(!canRun('redis-server'))('a store in Redis', () => {
  let server: RedisServer;
  let closers: (() => unknown)[] = [];
  const warnings = keepWarnings();

  beforeEach(async () => {
    server = await startRedis();
  });
  afterEach(async () => {
    for (const close of closers.toReversed()) await close();
    closers = [];
    await server.stop();
  });

  async function nodeRedis(password?: string) {
    const url = `redis://127.0.0.1:${server.port}`;
    const client = createClient({
      url,
      ...(password !== undefined && { password }),
      disableOfflineQueue: true,
      socket: { reconnectStrategy: () => 50 },
    });
    client.on('error', () => {});
    await client.connect();
    closers.push(() => client.destroy());
    return client;
  }

  function ioRedis() {
    const client = new Redis(server.port, '127.0.0.1', {
      retryStrategy: () => 50,
      enableOfflineQueue: false,
      maxRetriesPerRequest: 1,
    });
    client.on('error', () => {});
    closers.push(() => client.disconnect());
    return new Promise<Redis>((ready) => client.once('ready', () => ready(client)));
  }

  function worker(client: Parameters<typeof redisStore>[0], options: LimiterOptions): Limiter {
    const shared = redisStore(client, { key: 'test', ttlMs: 2_000 });
    const limiter = createLimiter({ adaptive: false, ...options, shared });
    closers.push(() => limiter.close({ waiting: 'reject' }));
    return limiter;
  }

  it('is one limiter for workers with node-redis and with ioredis', async () => {
    const workers = [
      worker(await nodeRedis(), { concurrency: 6 }),
      worker(await ioRedis(), { concurrency: 6 }),
    ];
    let inFlight = 0;
    let most = 0;
    const sent = [0, 0];
    const requests = workers.flatMap((limiter, index) =>
      Array.from({ length: 60 }, () =>
        limiter.run(async () => {
          sent[index] = (sent[index] ?? 0) + 1;
          inFlight += 1;
          most = Math.max(most, inFlight);
          await sleep(10);
          inFlight -= 1;
        }),
      ),
    );
    await Promise.all(requests);
    expect(most).toBe(6);
    expect(sent).toEqual([60, 60]);
    expect(warnings).toEqual([]);
  });

  it('loads its script again after SCRIPT FLUSH', async () => {
    const client = await nodeRedis();
    const limiter = worker(client, { concurrency: 2 });
    await limiter.run(() => 1);
    await client.scriptFlush();
    await sleep(100);
    await expect(limiter.run(() => 2)).resolves.toBe(2);
    expect(warnings).toEqual([]);
  });

  it.each([
    ['with what it has written', ['--appendonly', 'yes', '--appendfsync', 'always'], 0],
    ['without', [], 1],
  ])(
    'that is killed and started again %s loses no request, and warns once each way',
    async (_how, options, forgotten) => {
      await server.stop();
      server = await startRedis(['--save', '', ...options]);
      const limiter = worker(await nodeRedis(), { concurrency: 4 });
      let forgets = 0;
      limiter.events$.subscribe(({ kind }) => {
        if (kind === 'storeForgot') forgets += 1;
      });
      let ended = 0;
      const requests = Array.from({ length: 200 }, () =>
        limiter.run(async () => {
          await sleep(50);
          ended += 1;
        }),
      );
      await until(() => ended > 20, 'the first requests');
      await server.kill();
      await until(() => limiter.snapshot().fleet?.isAway === true, 'away');
      await until(() => limiter.snapshot().binding === 'shared', 'the cause of the wait');
      await server.restart();
      await Promise.all(requests);
      expect(ended).toBe(200);
      expect(forgets).toBe(forgotten);
      expect(warnings).toHaveLength(2);
      expect(warnings[0]).toContain('cannot reach the shared store, and nothing is sent');
      expect(warnings[1]).toContain('reaches the shared store again');
    },
  );

  it('whose memory is full goes on, since it only updates existing keys', async () => {
    const admin = await nodeRedis();
    const limiter = worker(await nodeRedis(), { requestsPerMinute: 60_000 });
    await limiter.run(() => 1);
    await admin.configSet('maxmemory-policy', 'noeviction');
    await admin.configSet('maxmemory', '1');
    await expect(admin.set('other', 'value')).rejects.toThrow('OOM');
    await Promise.all(Array.from({ length: 20 }, () => limiter.run(() => 'sent')));
    expect(warnings).toEqual([]);
  });

  it('whose memory is full forgets a worker that was killed', async () => {
    const admin = await nodeRedis();
    const other = await nodeRedis();
    const gone = worker(other, { concurrency: 1, adaptive: 'rate' });
    const left = worker(await nodeRedis(), { concurrency: 1, adaptive: 'rate' });
    await left.run(() => 1);
    void gone.run(() => new Promise((end) => closers.push(() => end(0))));
    await until(() => gone.snapshot().concurrency.inFlight === 1, 'the slot');
    other.destroy();
    await admin.configSet('maxmemory', '1');
    let losses = 0;
    left.events$.subscribe(({ kind }) => {
      if (kind === 'storeLost') losses += 1;
    });
    await expect(left.run(() => 'sent')).resolves.toBe('sent');
    expect(losses).toBe(0);
  });

  it.each(['state', 'workers', 'leases', 'active'])(
    'that has evicted the %s begins anew: slots are neither lost nor doubled',
    async (part) => {
      const admin = await nodeRedis();
      const options = { concurrency: 4, adaptive: 'rate' } as const;
      const workers = [worker(await nodeRedis(), options), worker(await nodeRedis(), options)];
      let inFlight = 0;
      let most = 0;
      const send = async (limiter: Limiter, count: number) => {
        const requests = Array.from({ length: count }, () =>
          limiter.run(async () => {
            inFlight += 1;
            most = Math.max(most, inFlight);
            await sleep(60);
            inFlight -= 1;
          }),
        );
        await Promise.all(requests);
      };
      const sending = Promise.all(workers.map((limiter) => send(limiter, 30)));
      await until(() => inFlight === 4, 'all slots');
      await admin.del(`{test}:headgate:${part}`);
      await sleep(700);
      workers.push(worker(await nodeRedis(), options));
      await Promise.all([sending, send(workers[2] as Limiter, 20)]);
      await sleep(200);
      await Promise.all(workers.map((limiter) => send(limiter, 10)));
      expect(most).toBe(4);
    },
  );

  it('that requires a password causes a warning, and workers wait for it', async () => {
    const admin = await nodeRedis();
    const client = await nodeRedis();
    const limiter = worker(client, { concurrency: 2 });
    await admin.configSet('requirepass', 'secret');
    await client.sendCommand(['RESET']).catch(() => {});
    const late = limiter.run(() => 'sent');
    await until(() => warnings.length > 0, 'a warning');
    expect(warnings[0]).toMatch(/NOAUTH/);
    expect(warnings[0]).not.toContain('secret');
    await client.auth({ password: 'secret' });
    await expect(late).resolves.toBe('sent');
  });

  it('keeps a key as long as it is used, and drops it after keepMs', async () => {
    const client = await nodeRedis();
    const options = { key: 'test', ttlMs: 500, keepMs: 1_200 };
    const limiter = createLimiter({
      requestsPerMinute: 60_000,
      shared: redisStore(client, options),
    });
    closers.push(() => limiter.close({ waiting: 'reject' }));
    let forgets = 0;
    limiter.events$.subscribe(({ kind }) => {
      if (kind === 'storeForgot') forgets += 1;
    });
    // Some of it is there for its requests, some for what it has learned.
    for (let request = 0; request < 20; request += 1) {
      await limiter.run(() => sleep(100));
    }
    expect(forgets).toBe(0);
    const keys = await client.keys('*');
    expect(keys.length).toBeGreaterThan(2);
    for (const key of keys) expect(await client.pTTL(key)).toBeGreaterThan(0);
    limiter.close();
    for (const giveUpAt = Date.now() + SOON_MS; (await client.keys('*')).length > 0; ) {
      expect(Date.now()).toBeLessThan(giveUpAt);
      await sleep(50);
    }
  });

  it('keeps the limits of each tenant of two groups, and no name of a tenant', async () => {
    const tenants = ['sk-secret-1', 'ada@example.com', 'cy'];
    const clients = [await nodeRedis(), await ioRedis()];
    const groups = clients.map((client) => {
      const group = createLimiterGroup((key: string) => key, {
        each: { adaptive: false, concurrency: 4 },
        shared: { concurrency: 10 },
        store: redisStore(client, { key: 'app', ttlMs: 2_000 }),
      });
      closers.push(() => group.close({ waiting: 'reject' }));
      return group;
    });
    const inFlight = new Map(tenants.map((tenant) => [tenant, 0]));
    const most = new Map(inFlight);
    let mostOfAll = 0;
    const sent = groups.map(() => 0);
    const add = (tenant: string, by: number) => {
      const now = (inFlight.get(tenant) ?? 0) + by;
      inFlight.set(tenant, now);
      most.set(tenant, Math.max(most.get(tenant) ?? 0, now));
      mostOfAll = Math.max(
        mostOfAll,
        [...inFlight.values()].reduce((a, b) => a + b),
      );
    };
    const requests = groups.flatMap((group, index) =>
      tenants.flatMap((tenant) =>
        Array.from({ length: 30 }, () =>
          group.run(tenant, async () => {
            sent[index] = (sent[index] ?? 0) + 1;
            add(tenant, 1);
            await sleep(10);
            // Until then no slot is given back: a busy machine may be slow to take the last.
            await until(
              () => mostOfAll >= 10 && (most.get(tenant) ?? 0) >= 4,
              'all ten slots in use, and four by each tenant',
            );
            add(tenant, -1);
          }),
        ),
      ),
    );
    await Promise.all(requests);
    expect([...most.values()]).toEqual([4, 4, 4]);
    expect(mostOfAll).toBe(10);
    expect(sent).toEqual([90, 90]);
    const admin = await nodeRedis();
    const keys = await admin.keys('*');
    expect(keys.length).toBeGreaterThan(6);
    for (const key of keys) {
      expect(key).toMatch(/^\{app(:[0-9a-f]{64})?\}:headgate:[a-z]+$/);
      const kept = (await admin.dump(key)) ?? '';
      for (const tenant of tenants.slice(0, 2)) expect(kept).not.toContain(tenant);
    }
    expect(warnings).toEqual([]);
  });

  it('refuses wrong clients and options', () => {
    const client = { eval: () => Promise.resolve(), evalSha: () => Promise.resolve() };
    expect(() => redisStore({} as never, { key: 'a' })).toThrow('`client.eval` must be');
    expect(() => redisStore({ eval: client.eval } as never, { key: 'a' })).toThrow(
      '`client.evalsha` must be',
    );
    expect(() => redisStore(client, { key: '{a}' })).toThrow(
      '`key` must be a string without braces',
    );
    expect(() => redisStore(client, { key: 'a', onStoreLoss: 'stop' as never })).toThrow(
      '`onStoreLoss` must be',
    );
  });
});
