import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Queue } from 'bullmq';
import { Redis } from 'ioredis';
import { describe, expect, inject, it, onTestFinished } from 'vitest';
import { canRun } from '../dashboards/programs.ts';
import { startRedis } from '../support/redis.ts';
import { isLong } from '../support/runs.ts';

// Real time and real processes: what is tested is what a crash leaves in a real Redis.

const JOBS = isLong ? 20_000 : 2_000;
const CONCURRENCY = 50;

/** Counts how often each job is sent. */
const PROGRAM = `
import { Worker } from 'bullmq';
import { createLimiter } from 'headgate';
import { processQueue } from 'headgate/bullmq';
import { Redis } from 'ioredis';
const [port, name] = process.argv.slice(2);
const connection = new Redis(Number(port), { maxRetriesPerRequest: null });
const worker = new Worker(name, null, { connection, lockDuration: 2_000, stalledInterval: 500 });
worker.on('error', () => {});
const limiter = createLimiter({ concurrency: ${CONCURRENCY} });
const send = async ({ data }) => {
  await connection.hincrby('sent', data, 1);
  await new Promise((resolve) => setTimeout(resolve, 10));
  return data * 2;
};
console.log('ready');
const processing = processQueue(worker, send, { limiter });
process.once('SIGTERM', async () => {
  await processing.close();
  connection.disconnect();
});
`;

function workersOf(port: number, name: string) {
  const folder = join(inject('packageFolder'), 'bullmq');
  mkdirSync(folder, { recursive: true });
  const program = join(folder, 'worker.mjs');
  writeFileSync(program, PROGRAM);
  const start = async () => {
    const child = spawn(process.execPath, [program, `${port}`, name], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    onTestFinished(() => void child.kill('SIGKILL'));
    await once(child.stdout, 'data');
    return child;
  };
  return start;
}

async function endOf(child: ChildProcess, signal: NodeJS.Signals): Promise<number | null> {
  const exit = once(child, 'exit');
  child.kill(signal);
  await exit;
  return child.exitCode;
}

describe.runIf(canRun('redis-server'))('three workers of one queue', () => {
  it('end every job once, though one of them is killed and one is stopped for a while', async () => {
    const redis = await startRedis();
    onTestFinished(() => redis.stop());
    const connection = new Redis(redis.port, { maxRetriesPerRequest: null });
    onTestFinished(() => connection.disconnect());
    const queue = new Queue('prompts', { connection });
    const start = workersOf(redis.port, queue.name);
    const workers = await Promise.all([start(), start(), start()]);
    for (let from = 0; from < JOBS; from += 1_000) {
      const part = Array.from({ length: 1_000 }, (_, n) => ({ name: 'job', data: from + n }));
      await queue.addBulk(part);
    }
    const ended = async () => (await queue.getCompletedCount()) + (await queue.getFailedCount());
    const reached = async (share: number) => {
      while ((await ended()) < JOBS * share) await sleep(20);
    };
    await reached(0.2);
    await endOf(workers[0], 'SIGKILL');
    await reached(0.5);
    // For longer than its locks last: what it wakes up with is not its own any more.
    workers[1].kill('SIGSTOP');
    await sleep(3_000);
    workers[1].kill('SIGCONT');
    await reached(1);
    const jobs = await queue.getCompleted(0, JOBS);
    expect(jobs.map(({ data }) => data).sort((a, b) => a - b)).toEqual(
      Array.from({ length: JOBS }, (_, n) => n),
    );
    for (const { data, returnvalue } of jobs) expect(returnvalue).toBe(2 * data);
    const sent = Object.values(await connection.hgetall('sent')).map(Number);
    const again = sent.reduce((sum, times) => sum + times - 1, 0);
    console.log(`${JOBS} jobs: ${again} were sent again`);
    expect(again).toBeGreaterThan(0);
    // What was in flight or about to be sent where one was killed, and where one was stopped.
    expect(again).toBeLessThanOrEqual(2 * (CONCURRENCY + 32));
    for (const worker of workers.slice(1)) expect(await endOf(worker, 'SIGTERM')).toBe(0);
    await queue.close();
  });
});
