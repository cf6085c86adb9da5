import IORedis from 'ioredis';
import { describe, expect, it, type TestContext } from 'vitest';
import { BatchError } from '../../../src/batch/errors.ts';
import { createQueueSender } from '../../../src/batch/queue/queue-sender.ts';
import { startWork } from '../../../src/batch/queue/queue-work.ts';
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

describe.runIf(canRun('redis-server'))('no connection stays open', () => {
  it('if a run may not use Redis', async (test) => {
    const acl = 'user default on nopass ~* &* +@all -info';
    const { url, port } = await redisOf(test, ['--user', ...acl.split(' ').slice(1)]);
    const error = await createQueueSender(url, 'q', {}).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(BatchError);
    expect(error).toMatchObject({ message: expect.stringMatching(/^--redis .*: NOPERM/) });
    await expect.poll(() => connections(port), { timeout: 20_000 }).toBe(0);
  });

  it('if a worker gets only the first of its two', async (test) => {
    const { url, port } = await redisOf(test, ['--maxclients', '1']);
    const work = startWork({
      redis: url,
      queue: 'q',
      provider: 'p',
      limits: {},
      limitsByModel: undefined,
      send: () => Promise.reject(new Error('not called')),
      onError: () => {},
      onOthers: () => {},
    });
    await expect(work).rejects.toThrow(/^--redis /);
    await expect.poll(() => connections(port), { timeout: 20_000 }).toBe(0);
  });
});
