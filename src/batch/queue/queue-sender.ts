import { setTimeout as sleep } from 'node:timers/promises';
import { BatchError, messageOf } from '../errors.ts';
import type { Send } from '../request.ts';
import { QueueCalls } from './queue-calls.ts';
import type { JobData, JobResult, RunLimits } from './queue-job.ts';
import { connectRedis, loadQueuePackages } from './queue-packages.ts';
import { RemoteJobs, type ReusedAnswers } from './remote-jobs.ts';
import type { RunQueue } from './run-queue.ts';

/** How long the end of a run waits for a Redis that is slow or cannot be reached. */
const CLOSE_MS = 2_000;
/**
 * About the most events of a queue that Redis keeps: those of answers have the answers in them. A
 * run that falls behind finds the answers in their jobs.
 */
const EVENTS = 1_000;

/** Sends requests through the workers of a queue. */
export interface QueueSender {
  readonly send: Send;
  readonly queue: RunQueue;
  close(): Promise<void>;
}

/**
 * Puts requests into a queue of `headgate work`, and waits for the answers of workers.
 * @param url of a Redis
 * @param limits which the workers share while they work for this run
 * @throws BatchError if a package is missing, or Redis cannot be reached or used
 */
export async function createQueueSender(
  url: string,
  name: string,
  limits: Omit<RunLimits, 'at'>,
  reused: ReusedAnswers,
): Promise<QueueSender> {
  const packages = await loadQueuePackages();
  const connection = await connectRedis(packages, url);
  const { Queue, QueueEvents } = packages.bullmq;
  const streams = { events: { maxLen: EVENTS } };
  const queue = new Queue<JobData, JobResult>(name, { connection, streams });
  // Without Redis, calls wait until it is back, and nothing is lost.
  queue.on('error', () => {});
  await queue.waitUntilReady().catch((error: unknown) => {
    // An open connection would keep the process alive.
    connection.disconnect();
    throw new BatchError(`--redis ${new URL(url).host}: ${messageOf(error)}`, { cause: error });
  });
  const at = await timeOf(connection);
  const events = new QueueEvents(name, { connection });
  const calls = new QueueCalls(queue, connection);
  const jobs = new RemoteJobs(calls, events, { at, ...limits }, reused);
  await events.waitUntilReady();
  return {
    send: jobs.send,
    queue: jobs,
    close: async () => {
      const close = () => Promise.all([queue.close(), events.close()]).catch(() => {});
      const isTidy = jobs.close().then(close);
      await Promise.race([isTidy, sleep(CLOSE_MS, undefined, { ref: false })]);
      // Calls to a lost Redis never end, so this may be the first close; open events keep polling.
      void close();
      connection.disconnect();
    },
  };
}

/**
 * The time of Redis, by which workers tell which run began last: the clocks of the machines that
 * runs are started on differ.
 */
async function timeOf(connection: Awaited<ReturnType<typeof connectRedis>>): Promise<number> {
  try {
    const [seconds, microseconds] = await connection.time();
    return Number(seconds) * 1_000 + Number(microseconds) / 1_000;
  } catch {
    // This user of Redis may not ask for it.
    return Date.now();
  }
}
