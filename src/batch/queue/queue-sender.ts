import { hash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Job, Queue, QueueEvents } from 'bullmq';
import { messageOf } from '../errors.ts';
import { isObject } from '../json.ts';
import type { BatchRequest, BatchResponse, Send } from '../request.ts';
import {
  type JobData,
  type JobResult,
  QueueError,
  type RunLimits,
  responseOf,
  WorkerError,
} from './queue-job.ts';
import { connectRedis, loadQueuePackages } from './queue-packages.ts';

/** How often jobs are looked for whose events were missed, or that Redis has lost. */
const LOOK_MS = 2_000;
/** Calls at a time about many jobs: one after the other, each costs a round trip. */
const AT_ONCE = 50;
/** How long a Redis that is away, or slow, may hold up the end of a run. */
const CLOSE_MS = 2_000;
/** Until its result is on disk a job is kept: the output is synced every second. */
const KEEP_MS = 5_000;
/** What a run that never comes back leaves behind is removed after a day. */
const KEEP_S = 86_400;
const ID_DIGITS = 32;

/** Requests that are answered by workers of a queue. */
export interface QueueSender {
  readonly send: Send;
  close(): Promise<void>;
}

interface Pending {
  readonly data: JobData;
  readonly resolve: (response: BatchResponse) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Puts requests into a queue of `headgate work`, and waits for what workers answer.
 * @param url of a Redis
 * @param limits what the workers keep to together while they work for this run
 * @throws BatchError where the packages or the Redis are not there
 */
export async function createQueueSender(
  url: string,
  name: string,
  limits: Omit<RunLimits, 'at'>,
): Promise<QueueSender> {
  const packages = await loadQueuePackages();
  const connection = await connectRedis(packages, url);
  const { Queue, QueueEvents } = packages.bullmq;
  const queue = new Queue<JobData, JobResult>(name, { connection });
  const events = new QueueEvents(name, { connection });
  const jobs = new RemoteJobs(queue, events, { at: Date.now(), ...limits });
  await events.waitUntilReady();
  return {
    send: jobs.send,
    close: async () => {
      const close = () => Promise.all([queue.close(), events.close()]).catch(() => {});
      const isTidy = jobs.close().then(close);
      await Promise.race([isTidy, sleep(CLOSE_MS, undefined, { ref: false })]);
      // Calls to a Redis that is away never end. Events that are not closed are asked for, for ever.
      void close();
      connection.disconnect();
    },
  };
}

/** The jobs of one run. */
class RemoteJobs {
  readonly #queue: Queue<JobData, JobResult>;
  readonly #limits: RunLimits;
  readonly #pending = new Map<string, Pending>();
  /** Answered jobs that are still in the queue, and since when. */
  readonly #answered = new Map<string, number>();
  readonly #timer: NodeJS.Timeout;
  #hasAdded = false;
  #isLooking = false;

  constructor(queue: Queue<JobData, JobResult>, events: QueueEvents, limits: RunLimits) {
    this.#queue = queue;
    this.#limits = limits;
    // Redis is away: calls wait for it, and nothing is lost.
    queue.on('error', () => {});
    events.on('error', () => {});
    events.on('completed', ({ jobId, returnvalue }) => this.#completed(jobId, returnvalue));
    events.on('failed', ({ jobId, failedReason }) => this.#failed(jobId, failedReason));
    this.#timer = setInterval(() => void this.#look(), LOOK_MS);
  }

  readonly send = async (
    { id, url, body, json }: BatchRequest,
    { signal }: { readonly signal: AbortSignal },
  ): Promise<BatchResponse> => {
    const jobId = hash('sha256', JSON.stringify([id, url, json ?? body])).slice(0, ID_DIGITS);
    const data = { id, url, body, json, limits: this.#limits };
    const answer = new Promise<BatchResponse>((resolve, reject) => {
      this.#pending.set(jobId, { data, resolve, reject });
    });
    const abandon = () => this.#abandon(jobId, signal.reason);
    signal.addEventListener('abort', abandon, { once: true });
    // Not awaited: while Redis is away it takes for ever, and the request may be given up.
    this.#add(jobId, data).catch((error: unknown) => this.#refused(jobId, error));
    try {
      return await answer;
    } finally {
      signal.removeEventListener('abort', abandon);
    }
  };

  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.#remove(Number.POSITIVE_INFINITY).catch(() => {});
  }

  /** Where the job is there already, from a run that was killed, this adds nothing. */
  async #add(jobId: string, data: JobData): Promise<void> {
    const age = { age: KEEP_S };
    await this.#queue.add('request', data, { jobId, removeOnComplete: age, removeOnFail: age });
    this.#hasAdded = true;
  }

  /** A Redis that has taken requests before is full, or not to be written to now: the next look adds it. */
  #refused(jobId: string, error: unknown): void {
    if (this.#hasAdded) return;
    const message = messageOf(error);
    const advice = /^(CROSSSLOT|MOVED)/.test(message)
      ? '. It must be one server, not a cluster'
      : '';
    this.#take(jobId)?.reject(new QueueError(`Redis takes no requests: ${message}${advice}`));
  }

  #completed(jobId: string, value: unknown): void {
    const pending = this.#take(jobId);
    if (pending === undefined) return;
    try {
      const result: unknown = typeof value === 'string' ? JSON.parse(value) : value;
      if (!isJobResult(result)) throw new WorkerError('a worker gave no result', 'error');
      pending.resolve(responseOf(result));
    } catch (error) {
      pending.reject(error);
    }
  }

  #failed(jobId: string, reason: string): void {
    this.#take(jobId)?.reject(new WorkerError(reason, 'worker'));
  }

  #take(jobId: string): Pending | undefined {
    const pending = this.#pending.get(jobId);
    if (pending === undefined) return undefined;
    this.#pending.delete(jobId);
    this.#answered.set(jobId, Date.now());
    return pending;
  }

  /** Nobody wants the answer any more: a job that no worker has yet is not sent. */
  #abandon(jobId: string, reason: unknown): void {
    const pending = this.#pending.get(jobId);
    if (pending === undefined) return;
    this.#pending.delete(jobId);
    pending.reject(reason);
    void this.#queue.remove(jobId).catch(() => {});
  }

  /** Finds what events did not tell: Redis was away, or lost what it had. */
  async #look(): Promise<void> {
    if (this.#isLooking) return;
    this.#isLooking = true;
    try {
      await someAtOnce([...this.#pending.keys()], (jobId) => this.#lookFor(jobId));
      await this.#remove(Date.now() - KEEP_MS);
    } catch {
      // It is away, or was just now: the next look finds it.
    } finally {
      this.#isLooking = false;
    }
  }

  async #lookFor(jobId: string): Promise<void> {
    if (!this.#pending.has(jobId)) return;
    const state = await this.#queue.getJobState(jobId);
    const pending = this.#pending.get(jobId);
    if (pending === undefined) return;
    if (state === 'unknown') await this.#addAgain(jobId, pending.data);
    else if (state === 'completed' || state === 'failed') await this.#find(jobId);
  }

  /**
   * A job that Redis lost from its lists may still have its hash, which would keep it from being
   * added.
   */
  async #addAgain(jobId: string, data: JobData): Promise<void> {
    await this.#queue.remove(jobId);
    await this.#add(jobId, data);
  }

  async #find(jobId: string): Promise<void> {
    const job: Job<JobData, JobResult> | undefined = await this.#queue.getJob(jobId);
    if (job?.failedReason) this.#failed(jobId, job.failedReason);
    else if (job !== undefined) this.#completed(jobId, job.returnvalue);
  }

  /** Removes jobs whose results are on disk: those that were answered before a time. */
  async #remove(before: number): Promise<void> {
    const old = [...this.#answered].filter(([, at]) => at < before);
    await someAtOnce(old, async ([jobId]) => {
      await this.#queue.remove(jobId);
      this.#answered.delete(jobId);
    });
  }
}

async function someAtOnce<T>(all: readonly T[], call: (each: T) => Promise<void>): Promise<void> {
  for (let from = 0; from < all.length; from += AT_ONCE) {
    await Promise.all(all.slice(from, from + AT_ONCE).map(call));
  }
}

function isJobResult(value: unknown): value is JobResult {
  return isObject(value) && isObject(value.sent);
}
