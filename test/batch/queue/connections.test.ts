import IORedis from 'ioredis';
import { describe, expect, it, type TestContext, vi } from 'vitest';
import { BatchError } from '../../../src/batch/errors.ts';
import { createQueueSender } from '../../../src/batch/queue/queue-sender.ts';
import { startWork, type Work } from '../../../src/batch/queue/queue-work.ts';
import { canRun } from '../../dashboards/programs.ts';
import { startRedis } from '../../support/redis.ts';

// Real time: Redis is a process of its own.

async function redisOf(test: TestContext, settings: readonly string[]) {
  const redis = await startRedis(['--save', '', ...settings]);
  test.onTestFinished(() => redis.stop());
  return redis;
}

/** The number of connections; undefined: Redis accepts no more. */
async function connections(port: number): Promise<number | undefined> {
  const client = new IORedis.Redis(port, { retryStrategy: () => null, lazyConnect: true });
  client.on('error', () => {});
  try {
    await client.connect();
    const clients = await client.client('LIST');
    return String(clients).trim().split('\n').length - 1;
  } catch {
    return undefined;
  } finally {
    client.disconnect();
  }
}

function startIdleWork(redis: string): Promise<Work> {
  return startWork({
    redis,
    queue: 'q',
    provider: 'p',
    limits: {},
    limitsByModel: undefined,
    send: () => Promise.reject(new Error('not called')),
    onError: () => {},
    onOthers: () => {},
  });
}

describe.runIf(canRun('redis-server'))('no connection stays open', () => {
  it('if a run may not use Redis', async (test) => {
    const acl = 'user default on nopass ~* &* +@all -info';
    const { url, port } = await redisOf(test, ['--user', ...acl.split(' ').slice(1)]);
    const error = await createQueueSender(url, 'q', {}, 'all').catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(BatchError);
    expect(error).toMatchObject({ message: expect.stringMatching(/^--redis .*: NOPERM/) });
    await expect.poll(() => connections(port), { timeout: 20_000 }).toBe(0);
  });

  it('if a worker gets only the first of its two', async (test) => {
    const { url, port } = await redisOf(test, ['--maxclients', '1']);
    await expect(startIdleWork(url)).rejects.toThrow(/^--redis /);
    await expect.poll(() => connections(port), { timeout: 20_000 }).toBe(0);
  });

  it('if a worker stops while Redis is suspended', async (test) => {
    const redis = await redisOf(test, []);
    const work = await startIdleWork(redis.url);
    redis.process.kill('SIGSTOP');
    let isClosed = false;
    void work.close(0).then(() => (isClosed = true));
    try {
      await expect.poll(() => isClosed, { timeout: 20_000 }).toBe(true);
    } finally {
      redis.process.kill('SIGCONT');
    }
    await expect.poll(() => connections(redis.port), { timeout: 20_000 }).toBe(0);
  });
});

describe.runIf(canRun('redis-server'))('which run began last', () => {
  it.for([
    ['the clock of Redis', '+@all'],
    ['the own clock, if Redis does not tell its own', '+@all -time'],
  ] as const)('is told by %s', async ([by, rights], test) => {
    const { url, port } = await redisOf(test, [
      '--user',
      ...`default on nopass ~* &* ${rights}`.split(' '),
    ]);
    const client = new IORedis.Redis(port);
    test.onTestFinished(() => client.disconnect());
    /** When a run began, by the limits in its job. */
    const beginOf = async (queue: string, aheadMs: number): Promise<number> => {
      const now = Date.now;
      const clock = vi.spyOn(Date, 'now').mockImplementation(() => now() + aheadMs);
      const sender = await createQueueSender(url, queue, { concurrency: 1 }, 'all');
      clock.mockRestore();
      const ended = new AbortController();
      const request = { id: 'a', url: '/v1/chat/completions', body: {}, place: '', hash: '' };
      const answer = sender.send(request, { signal: ended.signal, attempt: 1 }).catch(() => {});
      const jobs = async () =>
        (await client.keys(`bull:${queue}:*`)).filter((key) => /:[0-9a-f]{32}$/.test(key));
      await expect.poll(async () => (await jobs()).length).toBe(1);
      const data = await client.hget(String((await jobs())[0]), 'data');
      ended.abort();
      await answer;
      await sender.close();
      return JSON.parse(String(data)).limits.at;
    };
    const first = await beginOf('first', 3_600_000);
    const second = await beginOf('second', 0);
    expect(second > first).toBe(by === 'the clock of Redis');
  });
});

describe.runIf(canRun('redis-server'))('Redis keeps', () => {
  it('few events: those of answers have the answers in them', async (test) => {
    const { url, port } = await redisOf(test, []);
    const client = new IORedis.Redis(port);
    const sender = await createQueueSender(url, 'q', {}, 'all');
    test.onTestFinished(async () => {
      await sender.close();
      client.disconnect();
    });
    const ended = new AbortController();
    const { signal } = ended;
    const answers = Array.from({ length: 2_000 }, (_, n) => {
      const request = { id: `r-${n}`, url: '/v1/x', body: {}, place: '', hash: '' };
      return sender.send(request, { signal, attempt: 1 }).catch(() => {});
    });
    await expect.poll(() => client.llen('bull:q:wait'), { timeout: 60_000 }).toBe(2_000);
    expect(await client.xlen('bull:q:events')).toBeLessThan(1_500);
    ended.abort();
    await Promise.all(answers);
  });
});
