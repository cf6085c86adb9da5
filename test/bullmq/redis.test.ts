import { Queue, Worker } from 'bullmq';
import IORedis from 'ioredis';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { processQueue, type QueueProcessing } from '../../src/bullmq/index.ts';
import { createLimiter } from '../../src/index.ts';
import { canRun } from '../dashboards/programs.ts';
import { type Redis, startRedis } from '../support/redis.ts';

// Real time: the queue is in a real Redis.
let redis: Redis;
let count = 0;
const closing: (() => Promise<unknown>)[] = [];

beforeAll(async () => {
  if (canRun('redis-server')) redis = await startRedis();
});
afterAll(() => redis?.stop());
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

function connection(): IORedis.Redis {
  const client = new IORedis.Redis(redis.port, { maxRetriesPerRequest: null });
  closing.push(async () => client.disconnect());
  return client;
}

function newQueue(): Queue {
  count += 1;
  const queue = new Queue(`prompts-${count}`, { connection: connection() });
  closing.push(() => queue.close());
  return queue;
}

function newWorker(queue: Queue, options = {}): Worker {
  return new Worker(queue.name, null, { connection: connection(), drainDelay: 1, ...options });
}

function closedLater(processing: QueueProcessing): QueueProcessing {
  closing.push(() => processing.close());
  return processing;
}

describe.runIf(canRun('redis-server'))('a BullMQ queue', () => {
  it('is sent through the limiter, and every job completes with its answer', async () => {
    const queue = newQueue();
    const numbers = Array.from({ length: 300 }, (_, n) => n);
    await queue.addBulk(numbers.map((n) => ({ name: 'square', data: n })));
    const limiter = createLimiter({ concurrency: 10 });
    const processing = closedLater(
      processQueue(newWorker(queue), async (job) => job.data * job.data, { limiter }),
    );
    await expect.poll(() => processing.counts.completed, { timeout: 120_000 }).toBe(300);
    const jobs = await queue.getCompleted(0, 400);
    expect(jobs.map(({ returnvalue }) => returnvalue).sort((a, b) => a - b)).toEqual(
      numbers.map((n) => n * n),
    );
    expect(limiter.snapshot().ended.ok).toBe(300);
  });
});
