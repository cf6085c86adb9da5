import { hash } from 'node:crypto';
import type { QueueEvents } from 'bullmq';
import { NotSentError } from '../attempts.ts';
import { messageOf } from '../errors.ts';
import type { BatchRequest, BatchResponse } from '../request.ts';
import { AnsweredJobs } from './answered-jobs.ts';
import { type JobEnd, type QueueCalls, someAtOnce } from './queue-calls.ts';
import {
  hasFailed,
  type JobData,
  QueueError,
  type RunLimits,
  responseIn,
  WorkerError,
} from './queue-job.ts';
import type { QueueCounts, RunQueue } from './run-queue.ts';

/** How often the sender looks for jobs whose events it missed, or that Redis has lost. */
const LOOK_MS = 2_000;
const ID_DIGITS = 32;

/** Which answers to requests of earlier runs a run takes as its own, if they are in the queue. */
export type ReusedAnswers = 'all' | 'good' | 'none';

interface Pending {
  readonly request: BatchRequest;
  readonly data: JobData;
  /** Whether a worker has the job. */
  isActive: boolean;
  readonly resolve: (response: BatchResponse) => void;
  readonly reject: (error: unknown) => void;
}

/** The jobs of one run. */
export class RemoteJobs implements RunQueue {
  readonly #calls: QueueCalls;
  readonly #limits: RunLimits;
  readonly #reused: ReusedAnswers;
  readonly #pending = new Map<string, Pending>();
  readonly #answered: AnsweredJobs;
  readonly #timer: NodeJS.Timeout;
  /** Jobs that are being taken out of the queue. */
  readonly #leaving = new Set<Promise<void>>();
  #hasAdded = false;
  #hasWorker: boolean | undefined;
  #looking: Promise<void> | undefined;
  #isWithdrawn = false;

  constructor(calls: QueueCalls, events: QueueEvents, limits: RunLimits, reused: ReusedAnswers) {
    this.#calls = calls;
    this.#reused = reused;
    this.#answered = new AnsweredJobs(calls);
    this.#limits = limits;
    events.on('error', () => {});
    events.on('active', ({ jobId }) => this.#setActive(jobId, true));
    events.on('waiting', ({ jobId }) => this.#setActive(jobId, false));
    events.on('completed', ({ jobId, returnvalue }) => this.#completed(jobId, returnvalue));
    events.on('failed', ({ jobId, failedReason }) => this.#failed(jobId, failedReason));
    this.#timer = setInterval(() => void this.#look(), LOOK_MS);
  }

  get counts(): QueueCounts {
    const active = [...this.#pending.values()].filter(({ isActive }) => isActive).length;
    const hasWorker = active > 0 ? true : this.#hasWorker;
    return { queued: this.#pending.size - active, active, hasWorker };
  }

  readonly send = async (
    request: BatchRequest,
    { signal }: { readonly signal: AbortSignal },
  ): Promise<BatchResponse> => {
    signal.throwIfAborted();
    if (this.#isWithdrawn) throw new NotSentError();
    const { id, url, body, json } = request;
    const jobId = hash('sha256', JSON.stringify([id, url, json ?? body])).slice(0, ID_DIGITS);
    const data = { id, url, body, json, limits: this.#limits };
    const answer = new Promise<BatchResponse>((resolve, reject) => {
      this.#pending.set(jobId, { request, data, isActive: false, resolve, reject });
    });
    const abandon = () => this.#abandon(jobId, signal.reason);
    signal.addEventListener('abort', abandon, { once: true });
    // The run retries it: its last answer must not be taken for the next one.
    const isAgain = this.#answered.takeOut(request);
    const adding = isAgain ? this.#addAgain(jobId, data) : this.#add(jobId, data);
    // Not awaited: without Redis it does not end, and the request may be aborted meanwhile.
    adding.catch((error: unknown) => this.#refused(jobId, error));
    try {
      return await answer;
    } finally {
      signal.removeEventListener('abort', abandon);
    }
  };

  withdraw(): void {
    this.#isWithdrawn = true;
    for (const jobId of this.#pending.keys()) this.#takeBack(jobId);
  }

  async collect(): Promise<void> {
    await this.#looking;
    await this.#look();
  }

  forget(requests: readonly BatchRequest[]): void {
    this.#answered.forget(requests);
  }

  /** Other jobs that were answered, or that workers have, stay for the next run. */
  async close(): Promise<void> {
    clearInterval(this.#timer);
    await Promise.all(this.#leaving);
    await this.#answered.removeForgotten().catch(() => {});
  }

  async #add(jobId: string, data: JobData): Promise<void> {
    await this.#calls.add(jobId, data);
    this.#hasAdded = true;
    // The run may have stopped meanwhile, or aborted the request.
    if (this.#isWithdrawn || !this.#pending.has(jobId)) this.#takeBack(jobId);
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
      pending.resolve(responseIn(value));
    } catch (error) {
      pending.reject(error);
    }
  }

  #failed(jobId: string, reason: string): void {
    this.#take(jobId)?.reject(new WorkerError(reason, 'worker'));
  }

  #setActive(jobId: string, isActive: boolean): void {
    const pending = this.#pending.get(jobId);
    if (pending !== undefined) pending.isActive = isActive;
  }

  #take(jobId: string): Pending | undefined {
    const pending = this.#pending.get(jobId);
    if (pending === undefined) return undefined;
    this.#pending.delete(jobId);
    this.#answered.add(pending.request, jobId);
    return pending;
  }

  /** The request was aborted. If a worker has its job, the next run finds the answer. */
  #abandon(jobId: string, reason: unknown): void {
    const pending = this.#pending.get(jobId);
    if (pending === undefined) return;
    this.#pending.delete(jobId);
    pending.reject(reason);
    this.#takeBack(jobId);
  }

  /** Takes a job out of the queue if no worker has it; its request ends as not sent. */
  #takeBack(jobId: string): void {
    const leaves = this.#calls.takeBack(jobId).then(async (hasLeft) => {
      if (!hasLeft) return;
      this.#notSent(jobId);
      await this.#calls.remove(jobId);
    });
    // Without Redis, the job stays in the queue.
    const leaving = leaves.catch(() => {}).finally(() => this.#leaving.delete(leaving));
    this.#leaving.add(leaving);
  }

  #notSent(jobId: string): void {
    const pending = this.#pending.get(jobId);
    this.#pending.delete(jobId);
    pending?.reject(new NotSentError());
  }

  /** One look at a time, however slow Redis is. */
  #look(): Promise<void> {
    this.#looking ??= this.#lookNow().finally(() => {
      this.#looking = undefined;
    });
    return this.#looking;
  }

  /** Finds answers whose events were missed while Redis was away, and adds lost jobs again. */
  async #lookNow(): Promise<void> {
    try {
      await someAtOnce([...this.#pending.keys()], (jobId) => this.#lookFor(jobId));
      await this.#answered.removeForgotten();
      const { queued, active } = this.counts;
      this.#hasWorker = active === 0 && queued > 0 ? await this.#calls.hasWorker() : undefined;
    } catch {
      // Redis cannot be reached: the next look tries again.
    }
  }

  async #lookFor(jobId: string): Promise<void> {
    const state = await this.#calls.state(jobId);
    const pending = this.#pending.get(jobId);
    if (pending === undefined) return;
    pending.isActive = state === 'active';
    if (state === 'completed' || state === 'failed') await this.#find(jobId);
    else if (state === 'unknown' && this.#isWithdrawn) this.#notSent(jobId);
    else if (state === 'unknown') await this.#addAgain(jobId, pending.data);
    // A worker may have given it back since the run has stopped.
    else if (state === 'waiting' && this.#isWithdrawn) this.#takeBack(jobId);
  }

  /**
   * A job that Redis lost from its lists may still have its hash, which would keep it from being
   * added.
   */
  async #addAgain(jobId: string, data: JobData): Promise<void> {
    await this.#calls.remove(jobId);
    // The request may have been aborted meanwhile: its job must not come back.
    if (this.#pending.has(jobId)) await this.#add(jobId, data);
  }

  async #find(jobId: string): Promise<void> {
    const end = await this.#calls.endOf(jobId);
    if (end === undefined) return;
    const pending = this.#pending.get(jobId);
    if (pending !== undefined && this.#isToSendAgain(end)) {
      await this.#addAgain(jobId, pending.data);
    } else if ('failedReason' in end) {
      this.#failed(jobId, end.failedReason);
    } else {
      this.#completed(jobId, end.value);
    }
  }

  /** A run that was killed leaves its last answers in the queue, those that it has written too. */
  #isToSendAgain(end: JobEnd): boolean {
    const isEarlier = end.runAt !== undefined && end.runAt < this.#limits.at;
    if (!isEarlier || this.#reused === 'all') return false;
    return this.#reused === 'none' || 'failedReason' in end || hasFailed(end.value);
  }
}
