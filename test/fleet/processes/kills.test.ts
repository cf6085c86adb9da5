import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { seededRandom } from '../../../src/simulator/random.ts';
import { canRun } from '../../dashboards/programs.ts';
import { startRedis } from '../../support/redis.ts';
import { isLong } from '../../support/runs.ts';
import { countingServer } from './counting-server.ts';
import { FleetProcess, timeUntil, type WorkerSettings } from './fleet-processes.ts';

// Real time and real processes: a server counts what a fleet sends while its workers come and go.

const TTL_MS = 2_000;
const WORKERS = isLong ? 16 : 6;
const CONCURRENCY = 32;
const LIMIT = 1_500;
const WINDOW_MS = 10_000;
const TOOK_MS = 150;
const STEPS = isLong ? 400 : 10;
const STEP_MS = 400;
const STANDS_MS = 10_000;

describe.runIf(canRun('redis-server'))(
  'workers that start, stop, stand still and are killed',
  () => {
    it('keep every limit, and lose no slot and no request', async (test) => {
      const redis = await startRedis();
      test.onTestFinished(() => redis.stop());
      const server = await countingServer(TOOK_MS, TTL_MS / 2);
      test.onTestFinished(() => server.stop());
      const random = seededRandom(18);
      let started = 0;
      const start = () => {
        started += 1;
        const settings: WorkerSettings = {
          kind: started % 2 === 0 ? 'node-redis' : 'ioredis',
          offlineQueue: started % 4 < 2,
          port: redis.port,
          serverPort: server.port,
          lanes: 8,
          store: { key: 'kills', ttlMs: TTL_MS },
          limits: {
            concurrency: CONCURRENCY,
            limits: { requests: { limit: LIMIT, windowMs: WINDOW_MS } },
          },
        };
        return FleetProcess.start(test, `w${started}`, settings);
      };
      const workers = await Promise.all(Array.from({ length: WORKERS }, start));
      const take = () =>
        workers.splice(Math.floor(random() * workers.length), 1)[0] as FleetProcess;
      // It stands still for far longer than its lease, while others come and go.
      const standing = take();
      standing.tell({ stop: true });
      const stoodAt = performance.now();
      const ending: Promise<unknown>[] = [];
      for (let step = 0; step < STEPS; step += 1) {
        const chance = random();
        if (chance < 0.3 && workers.length > 3) await take().kill();
        else if (chance < 0.5 && workers.length > 3) ending.push(take().finish());
        else if (workers.length < WORKERS)
          ending.push(start().then((worker) => workers.push(worker)));
        await sleep(STEP_MS * 2 * random());
      }
      await sleep(Math.max(0, STANDS_MS - (performance.now() - stoodAt)));
      standing.signal('SIGCONT');
      await sleep(2 * TTL_MS);
      await Promise.all(ending);
      expect(server.mostInFlight, server.mostAre).toBeLessThanOrEqual(CONCURRENCY);
      expect(server.mostInWindow(WINDOW_MS)).toBeLessThanOrEqual(LIMIT * 1.01);
      // Who waits for nobody is killed last: all that it held must be there for the one that is
      // left.
      for (const { failed } of await Promise.all([...workers, standing].map((w) => w.finish()))) {
        expect(failed).toBe(0);
      }
      expect(server.doubled).toBe(0);
      console.log(
        `${started} workers: at most ${server.mostInFlight} of ${CONCURRENCY} in flight, ` +
          `${server.mostInWindow(WINDOW_MS)} of ${LIMIT} in ${WINDOW_MS} ms, ` +
          `${server.heldUp} held up on their way, ${server.seen.length} in all`,
      );
    }, 600_000);
  },
);

describe.runIf(canRun('redis-server'))('a worker that is killed', () => {
  it('leaves its slots to the others, within two TTL, and no more of them', async (test) => {
    const redis = await startRedis();
    test.onTestFinished(() => redis.stop());
    const server = await countingServer(TOOK_MS, TTL_MS / 2);
    test.onTestFinished(() => server.stop());
    const start = (name: string, kind: WorkerSettings['kind']) =>
      FleetProcess.start(test, name, {
        kind,
        port: redis.port,
        serverPort: server.port,
        lanes: 20,
        store: { key: 'slots', ttlMs: TTL_MS },
        limits: { concurrency: 10 },
      });
    const left = await start('left', 'node-redis');
    const times: number[] = [];
    for (const kind of ['node-redis', 'ioredis'] as const) {
      const killed = await start(`killed-${times.length}`, kind);
      await timeUntil(() => server.inFlightOf(killed.name) >= 4, 'it has its share');
      await killed.kill();
      times.push(await timeUntil(() => server.inFlightOf(left.name) === 10, 'all slots are back'));
    }
    expect(server.mostInFlight).toBe(10);
    expect((await left.finish()).failed).toBe(0);
    console.log(
      `slots of killed workers were back after ${times.join(', ')} ms of a TTL of ${TTL_MS} ms`,
    );
  });
});
