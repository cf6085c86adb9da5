import { setTimeout as sleep } from 'node:timers/promises';
import { createClient } from 'redis';
import { describe, expect, it, type TestContext } from 'vitest';
import { PROTOCOL } from '../../../src/fleet/protocol.ts';
import { SCRIPT } from '../../../src/redis/script.ts';
import { canRun } from '../../dashboards/programs.ts';
import { type Redis, startRedis } from '../../support/redis.ts';
import { type CountingServer, countingServer } from './counting-server.ts';
import { FleetProcess, timeUntil, until, type WorkerSettings } from './fleet-processes.ts';
import { startProxy } from './proxy.ts';

// Real time and real processes, with a proxy between the workers and their store.

/** As long as the default: a call may take two seconds. */
const TTL_MS = 5_000;
const CONCURRENCY = 10;

async function admin(test: TestContext, { port }: Redis) {
  const client = createClient({ url: `redis://127.0.0.1:${port}` });
  client.on('error', () => {});
  await client.connect();
  test.onTestFinished(() => client.destroy());
  return client;
}

async function provider(test: TestContext) {
  const server = await countingServer(50, TTL_MS / 2);
  test.onTestFinished(() => server.stop());
  return server;
}

async function startTwo(
  test: TestContext,
  port: number,
  server: CountingServer,
  more: Partial<WorkerSettings> = {},
) {
  const kinds = [
    { kind: 'node-redis', offlineQueue: false },
    { kind: 'ioredis', offlineQueue: true },
  ] as const;
  return Promise.all(
    kinds.map((kind, index) =>
      FleetProcess.start(test, `worker-${index}`, {
        ...kind,
        port,
        serverPort: server.port,
        lanes: 8,
        store: { key: 'network', ttlMs: TTL_MS },
        limits: { concurrency: CONCURRENCY },
        ...more,
      }),
    ),
  );
}

/** How long it takes until all of them send. */
function untilSending(server: CountingServer, workers: readonly FleetProcess[]): Promise<number> {
  const from = server.seen.length;
  const names = () => new Set(server.seen.slice(from).map(({ worker }) => worker));
  return timeUntil(() => names().size >= workers.length, 'all send');
}

/** The same after what was granted before has expired. */
async function untilBack(
  server: CountingServer,
  workers: readonly FleetProcess[],
): Promise<number> {
  const from = performance.now();
  await sleep(TTL_MS / 2);
  await untilSending(server, workers);
  for (const worker of workers) {
    await until(() => worker.count('storeBack') === worker.count('storeLost'), 'it is back');
  }
  return Math.round(performance.now() - from);
}

describe.runIf(canRun('redis-server'))('a fleet', () => {
  it('stands a slow network, cuts, forgotten connections and lost answers', async (test) => {
    const redis = await startRedis();
    test.onTestFinished(() => redis.stop());
    const server = await provider(test);
    const proxy = await startProxy(redis.port);
    test.onTestFinished(() => proxy.stop());
    const workers = await startTwo(test, proxy.port, server);
    const report: string[] = [];
    await untilSending(server, workers);
    proxy.delayMs = 500;
    const before = server.seen.length;
    await sleep(4_000);
    report.push(`1 s slow: ${(server.seen.length - before) / 4} requests a second`);
    await untilSending(server, workers);
    expect(workers.map((worker) => worker.count('storeLost'))).toEqual([0, 0]);
    proxy.delayMs = 0;
    await untilSending(server, workers);
    for (let cut = 0; cut < 3; cut += 1) {
      proxy.cut();
      report.push(`cut: ${await untilSending(server, workers)} ms`);
    }
    for (let lost = 0; lost < 5; lost += 1) {
      proxy.losesAnswers = true;
      await sleep(300);
      proxy.losesAnswers = false;
      await untilSending(server, workers);
    }
    proxy.forget();
    report.push(`forgotten: ${await untilBack(server, workers)} ms`);
    expect(server.mostInFlight).toBeLessThanOrEqual(CONCURRENCY);
    for (const worker of workers) {
      const { begun, ended } = await worker.finish();
      expect(ended).toBe(begun);
      expect(worker.count('storeBack')).toBe(worker.count('storeLost'));
      expect(worker.warnings).toHaveLength(2 * worker.count('storeLost'));
    }
    expect(server.doubled).toBe(0);
    console.log(`both workers sent again after ${report.join('; ')}`);
  });

  it('follows a replica that takes over, after a crash and as planned', async (test) => {
    const primary = await startRedis();
    test.onTestFinished(() => primary.stop());
    const replica = await startRedis(['--save', '', '--replicaof', '127.0.0.1', `${primary.port}`]);
    test.onTestFinished(() => replica.stop());
    const proxy = await startProxy(primary.port);
    test.onTestFinished(() => proxy.stop());
    const server = await provider(test);
    const client = await admin(test, replica);
    const isSynced = async () => /master_link_status:up/.test(await client.info('replication'));
    while (!(await isSynced())) await sleep(50);
    const workers = await startTwo(test, proxy.port, server);
    await until(() => server.seen.length > 100, 'they send');
    await primary.kill();
    await sleep(500);
    await client.sendCommand(['REPLICAOF', 'NO', 'ONE']);
    proxy.target = replica.port;
    const crashed = await untilBack(server, workers);
    // The connections stay as they become those of a replica, which refuses them.
    await primary.restart();
    await client.sendCommand(['REPLICAOF', '127.0.0.1', `${primary.port}`]);
    const lost = workers.map((worker) => worker.count('storeLost'));
    const areAway = () => workers.every((each, n) => each.count('storeLost') > (lost[n] as number));
    await until(areAway, 'they are refused');
    // A warning is told a moment after its event.
    const isTold = () => workers[0]?.warnings.at(-1)?.includes('READONLY') === true;
    await until(isTold, 'the refusal is told');
    proxy.target = primary.port;
    proxy.cut();
    const planned = await untilBack(server, workers);
    expect(server.mostInFlight).toBeLessThanOrEqual(CONCURRENCY);
    for (const worker of workers) {
      expect((await worker.finish()).failed).toBe(0);
      expect(worker.count('storeBack')).toBe(worker.count('storeLost'));
    }
    expect(server.doubled).toBe(0);
    console.log(`sent again ${crashed} ms after a crash, ${planned} ms after a planned takeover`);
  });

  it('takes limits of a rolling deploy, and refuses an older protocol', async (test) => {
    const redis = await startRedis();
    test.onTestFinished(() => redis.stop());
    const server = await provider(test);
    const old = await startTwo(test, redis.port, server);
    await untilSending(server, old);
    const young = await FleetProcess.start(test, 'young', {
      kind: 'node-redis',
      port: redis.port,
      serverPort: server.port,
      lanes: 8,
      store: { key: 'network', ttlMs: TTL_MS },
      limits: { concurrency: 4 },
    });
    await until(() => old.every((worker) => worker.count('sharedLimitsChanged') === 1), 'told');
    await until(() => server.inFlight <= 4, 'the old requests have ended');
    await untilSending(server, [...old, young]);
    for (let look = 0; look < 50; look += 1) {
      expect(server.inFlight).toBeLessThanOrEqual(4);
      await sleep(10);
    }
    // A worker of a later version begins.
    const client = await admin(test, redis);
    const parts = ['state', 'workers', 'leases', 'active', 'reports', 'learned'];
    const keys = parts.map((part) => `{network}:headgate:${part}`);
    const later = { protocol: PROTOCOL + 1, worker: 'later', sequence: 1, run: 0, epoch: 0 };
    await client.eval(SCRIPT, { keys, arguments: [JSON.stringify([later, '', '', '', ''])] });
    await sleep(1_000);
    for (const worker of [...old, young]) {
      const { begun, ended, failed, errors } = await worker.finish();
      expect(ended + failed).toBe(begun);
      expect(failed).toBeGreaterThan(0);
      expect(errors).toHaveLength(1);
      expect(errors[0]).toMatch(/^STORE_PROTOCOL: .*update headgate here/);
      expect(worker.warnings).toEqual([]);
    }
  });

  it('is not frozen, and exceeds nothing, as the clock of the store steps', async (test) => {
    const redis = await startRedis();
    test.onTestFinished(() => redis.stop());
    const server = await provider(test);
    const workers = await startTwo(test, redis.port, server, {
      kind: 'node-redis',
      hasClock: true,
      limits: {
        concurrency: CONCURRENCY,
        limits: { requests: { limit: 1_500, windowMs: 10_000 } },
      },
    });
    for (const skipMs of [3.6e6, -7.2e6, 20_000, -20_000]) {
      await untilSending(server, workers);
      for (const worker of workers) worker.tell({ skipMs });
      await sleep(1_000);
    }
    await untilSending(server, workers);
    expect(server.mostInFlight).toBeLessThanOrEqual(CONCURRENCY);
    expect(server.mostInWindow(10_000)).toBeLessThanOrEqual(1_515);
    for (const worker of workers) {
      expect((await worker.finish()).failed).toBe(0);
      expect(worker.warnings).toEqual([]);
    }
  });
});
