import { hash } from 'node:crypto';
import type { Job, Queue, QueueEvents } from 'bullmq';
import { messageOf } from '../errors.ts';
import { isObject } from '../json.ts';
import type { BatchRequest, BatchResponse } from '../request.ts';
import {
  type JobData,
  type JobResult,
  QueueError,
  type RunLimits,
  responseOf,
  WorkerError,
} from './queue-job.ts';

/** How often the sender looks for jobs whose events it missed, or that Redis has lost. */
const LOOK_MS = 2_000;
/** Calls at a time for many jobs: one after the other, each would take a round trip. */
const AT_ONCE = 50;
/** A job is kept until its result is surely on disk: the output is synced every second. */
const KEEP_MS = 5_000;
/** Answered jobs of a run that is never continued are removed after a day. */
const KEEP_S = 86_400;
const ID_DIGITS = 32;

interface Pending {
  readonly data: JobData;
  readonly resolve: (response: BatchResponse) => void;
  readonly reject: (error: unknown) => void;
}

/** The jobs of one run. */
export class RemoteJobs {
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
    events.on('error', () => {});
    events.on('completed', ({ jobId, returnvalue }) => this.#completed(jobId, returnvalue));
    events.on('failed', ({ jobId, failedReason }) => this.#failed(jobId, failedReason));
    this.#timer = setInterval(() => void this.#look(), LOOK_MS);
  }

  readonly send = async (
    { id, url, body, json }: BatchRequest,
    { signal }: { readonly signal: AbortSignal },
  ): Promise<BatchResponse> => {
    signal.throwIfAborted();
    const jobId = hash('sha256', JSON.stringify([id, url, json ?? body])).slice(0, ID_DIGITS);
    const data = { id, url, body, json, limits: this.#limits };
    const answer = new Promise<BatchResponse>((resolve, reject) => {
      this.#pending.set(jobId, { data, resolve, reject });
    });
    const abandon = () => this.#abandon(jobId, signal.reason);
    signal.addEventListener('abort', abandon, { once: true });
    // Not awaited: without Redis it does not end, and the request may be aborted meanwhile.
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

  /** Adds a job. If the job of a killed run is still in the queue, nothing is added. */
  async #add(jobId: string, data: JobData): Promise<void> {
    const age = { age: KEEP_S };
    await this.#queue.add('request', data, { jobId, removeOnComplete: age, removeOnFail: age });
    this.#hasAdded = true;
  }

  /** If Redis took jobs before, it is full or read-only for now: the next look adds the job. */
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

  /** The request was aborted: its job is removed, unless a worker has it already. */
  #abandon(jobId: string, reason: unknown): void {
    const pending = this.#pending.get(jobId);
    if (pending === undefined) return;
    this.#pending.delete(jobId);
    pending.reject(reason);
    void this.#queue.remove(jobId).catch(() => {});
  }

  /** Finds answers whose events were missed while Redis was away, and adds lost jobs again. */
  async #look(): Promise<void> {
    if (this.#isLooking) return;
    this.#isLooking = true;
    try {
      await someAtOnce([...this.#pending.keys()], (jobId) => this.#lookFor(jobId));
      await this.#remove(Date.now() - KEEP_MS);
    } catch {
      // Redis cannot be reached: the next look tries again.
    } finally {
      this.#isLooking = false;
    }
  }

  async #lookFor(jobId: string): Promise<void> {
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
    // The request may have been aborted meanwhile: its job must not come back.
    if (this.#pending.has(jobId)) await this.#add(jobId, data);
  }

  async #find(jobId: string): Promise<void> {
    const job: Job<JobData, JobResult> | undefined = await this.#queue.getJob(jobId);
    if (job?.failedReason) this.#failed(jobId, job.failedReason);
    else if (job !== undefined) this.#completed(jobId, job.returnvalue);
  }

  /** Removes jobs that were answered before a time: their results are on disk. */
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
