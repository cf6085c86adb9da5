import type { Queue } from 'bullmq';
import type { Redis } from 'ioredis';
import type { JobData, JobResult } from './queue-job.ts';

/** Calls at a time for many jobs: one after the other, each would take a round trip. */
const AT_ONCE = 50;
/** Answered jobs of a run that is never continued are removed after a day. */
const KEEP_S = 86_400;
/** The lists of jobs that no worker has; they wait in the second one while the queue is paused. */
const WAITING = ['wait', 'paused'];

/** How a job has ended. */
export type JobEnd = ({ readonly value: unknown } | { readonly failedReason: string }) & {
  /** When the run began that added the job. */
  readonly runAt: number | undefined;
};

/** The calls to Redis for the jobs of a run. */
export class QueueCalls {
  readonly #queue: Queue<JobData, JobResult>;
  readonly #redis: Pick<Redis, 'lrem'>;

  constructor(queue: Queue<JobData, JobResult>, redis: Pick<Redis, 'lrem'>) {
    this.#queue = queue;
    this.#redis = redis;
  }

  /** Adds a job. If the job of an earlier run is still in the queue, nothing is added. */
  async add(jobId: string, data: JobData): Promise<void> {
    const age = { age: KEEP_S };
    await this.#queue.add('request', data, { jobId, removeOnComplete: age, removeOnFail: age });
  }

  async remove(jobId: string): Promise<void> {
    await this.#queue.remove(jobId);
  }

  /**
   * Takes a job out of the queue if no worker has it. BullMQ's `remove` would also remove a job
   * that was answered a moment ago, with its answer.
   * @returns whether no worker can get the job any more
   */
  async takeBack(jobId: string): Promise<boolean> {
    const calls = WAITING.map((list) => this.#redis.lrem(this.#queue.toKey(list), 1, jobId));
    return (await Promise.all(calls)).some((removed) => removed > 0);
  }

  state(jobId: string): Promise<string> {
    return this.#queue.getJobState(jobId);
  }

  /** Whether a worker is connected; undefined: Redis does not say. */
  async hasWorker(): Promise<boolean | undefined> {
    try {
      return (await this.#queue.getWorkersCount()) > 0;
    } catch {
      // This user of Redis may not ask for it.
      return undefined;
    }
  }

  /** The end of a job that has ended; undefined: Redis has lost it. */
  async endOf(jobId: string): Promise<JobEnd | undefined> {
    const job = await this.#queue.getJob(jobId);
    if (job === undefined) return undefined;
    const { failedReason, returnvalue: value } = job;
    const runAt = job.data.limits?.at;
    return failedReason ? { failedReason, runAt } : { value, runAt };
  }
}

/** Calls a function for each item, for several of them at a time. */
export async function someAtOnce<T>(
  all: readonly T[],
  call: (each: T) => Promise<void>,
): Promise<void> {
  for (let from = 0; from < all.length; from += AT_ONCE) {
    await Promise.all(all.slice(from, from + AT_ONCE).map(call));
  }
}
