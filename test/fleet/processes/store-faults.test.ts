import { createClient } from 'redis';
import { describe, expect, it, type TestContext } from 'vitest';
import { canRun } from '../../dashboards/programs.ts';
import { type Redis, startRedis } from '../../support/redis.ts';
import { type CountingServer, countingServer } from './counting-server.ts';
import { FleetProcess, timeUntil, until, type WorkerSettings } from './fleet-processes.ts';

// Real time and real processes: what a store does to its workers as it fails and comes back.

const TTL_MS = 5_000;
const CONCURRENCY = 12;
const PASSWORD = 'right';

async function admin(test: TestContext, { port }: Redis, password = PASSWORD) {
  const client = createClient({ url: `redis://:${password}@127.0.0.1:${port}` });
  client.on('error', () => {});
  await client.connect();
  test.onTestFinished(() => client.destroy());
  return client;
}

function startAll(
  test: TestContext,
  redis: Redis,
  server: CountingServer,
  more: Partial<WorkerSettings> = {},
) {
  const kinds = [
    { kind: 'node-redis', offlineQueue: false },
    { kind: 'node-redis', offlineQueue: true },
    { kind: 'ioredis', offlineQueue: false },
    { kind: 'ioredis', offlineQueue: true },
  ] as const;
  const starts = kinds.map((kind) =>
    FleetProcess.start(test, `${kind.kind}${kind.offlineQueue ? '-queue' : ''}`, {
      ...kind,
      port: redis.port,
      serverPort: server.port,
      password: PASSWORD,
      lanes: 6,
      store: { key: 'faults', ttlMs: TTL_MS },
      limits: { concurrency: CONCURRENCY },
      ...more,
    }),
  );
  return Promise.all(starts);
}

describe.runIf(canRun('redis-server'))('a fleet whose store fails', () => {
  it('loses no request, exceeds nothing, and goes on by itself with one warning each way', async (test) => {
    const keeps = ['--appendonly', 'yes', '--appendfsync', 'no', '--save', ''];
    const redis = await startRedis([...keeps, '--requirepass', PASSWORD]);
    test.onTestFinished(() => redis.stop());
    const server = await countingServer(50, TTL_MS / 2);
    test.onTestFinished(() => server.stop());
    const workers = await startAll(test, redis, server);
    const report: string[] = [];
    /** All of them send again. */
    const areSending = async (after = 0) => {
      const from = server.seen.length;
      const names = () => new Set(server.seen.slice(from).map(({ worker }) => worker));
      return after + (await timeUntil(() => names().size === workers.length, 'all send again'));
    };
    /** @param comesBack ends the fault */
    const outage = async (name: string, begins: () => unknown, comesBack: () => unknown) => {
      const before = workers.map((worker) => worker.count('storeLost'));
      const areAway = () =>
        workers.every((worker, index) => worker.count('storeLost') > (before[index] as number));
      await begins();
      await until(areAway, `all know of ${name}`);
      // What was granted before is used until it expires.
      const last = () => server.seen.at(-1)?.arrivedAt ?? 0;
      await until(() => Date.now() - last() > 500, 'nothing is sent any more');
      await comesBack();
      report.push(`${name}: ${await areSending()} ms`);
      for (const [index, worker] of workers.entries()) {
        await until(() => worker.count('storeBack') === worker.count('storeLost'), 'it is back');
        expect([worker.name, name, worker.count('storeLost')]).toEqual([
          worker.name,
          name,
          (before[index] as number) + 1,
        ]);
      }
    };

    const client = await admin(test, redis);
    await areSending();
    await client.scriptFlush();
    await areSending();
    await client.configSet({ 'maxmemory-policy': 'noeviction', maxmemory: '1' });
    await expect(client.set('other', 'value')).rejects.toThrow('OOM');
    await client.scriptFlush();
    await areSending();
    await client.configSet('maxmemory', '0');
    const lost = workers.flatMap((worker) => worker.facts.filter(({ event }) => event));
    expect(lost.filter(({ event }) => event === 'storeLost')).toEqual([]);

    await outage('killed, with its data', redis.kill, redis.restart);
    expect(workers.map((worker) => worker.count('storeForgot'))).toEqual([0, 0, 0, 0]);
    await outage('killed, without its data', redis.kill, () => redis.restart({ isEmpty: true }));
    expect(workers.map((worker) => worker.count('storeForgot'))).toEqual([1, 1, 1, 1]);
    const stop = () => redis.process.kill('SIGSTOP');
    await outage('stands still', stop, () => redis.process.kill('SIGCONT'));
    const wrong = async () => {
      const first = await admin(test, redis);
      await first.configSet('requirepass', 'wrong');
      await first.sendCommand(['CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes']);
    };
    await outage('another password', wrong, async () => {
      const second = await admin(test, redis, 'wrong');
      await second.configSet('requirepass', PASSWORD);
    });

    expect(server.mostInFlight).toBeLessThanOrEqual(CONCURRENCY);
    for (const worker of workers) {
      const { begun, ended, failed } = await worker.finish();
      expect([ended, failed]).toEqual([begun, 0]);
      expect(worker.warnings).toHaveLength(8);
      expect(worker.warnings.join()).not.toMatch(/right|secret|wrong/);
    }
    expect(server.doubled).toBe(0);
    console.log(`all four workers sent again after: ${report.join('; ')}`);
  });

  it('goes on with its share, where it is told to, and shares again', async (test) => {
    const redis = await startRedis(['--save', '', '--requirepass', PASSWORD]);
    test.onTestFinished(() => redis.stop());
    const server = await countingServer(50, TTL_MS / 2);
    test.onTestFinished(() => server.stop());
    const limits = {
      concurrency: CONCURRENCY,
      limits: { requests: { limit: 1_000, windowMs: 10_000 } },
    };
    const store = { key: 'share', ttlMs: TTL_MS, onStoreLoss: 'share' as const };
    const workers = await startAll(test, redis, server, { limits, store });
    const sending = new Set<string>();
    // Each of them must know of all the others: their number is what it divides the limits by.
    await until(() => {
      for (const { worker } of server.seen) sending.add(worker);
      return sending.size === 4;
    }, 'all send');
    const first = server.seen.length;
    await until(() => server.seen.length > first + 300, 'they send');
    await redis.kill();
    await until(() => workers.every((worker) => worker.count('storeLost') === 1), 'all know it');
    const before = server.seen.length;
    const since = () => new Set(server.seen.slice(before).map(({ worker }) => worker));
    // One that held nothing has its share when the others have given up what is above theirs.
    await until(() => since().size === 4, 'all go on');
    await until(() => server.seen.length > before + 300, 'they go on');
    expect(server.mostInFlight).toBeLessThanOrEqual(CONCURRENCY);
    await redis.restart();
    const back = () => JSON.stringify(workers.map((worker) => [worker.name, worker.backAt]));
    await until(() => workers.every((worker) => worker.count('storeBack') === 1), 'all are back');
    await until(() => server.seen.length > before + 600, 'they go on');
    expect(server.mostInFlight, `${server.mostAre}, ${back()}`).toBeLessThanOrEqual(CONCURRENCY);
    expect(server.mostInWindow(10_000)).toBeLessThanOrEqual(1_010);
    for (const worker of workers) {
      expect((await worker.finish()).failed).toBe(0);
      expect(worker.warnings).toHaveLength(2);
    }
  });
});
