import { hash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Job } from 'bullmq';
import type { AttemptContext, LimiterOptions } from 'headgate';
import { systemClock } from 'headgate/advanced';
import { processQueue, type QueueProcessing } from 'headgate/bullmq';
import { redisStore } from 'headgate/redis';
import { callOnce } from '../attempts.ts';
import { isApiPath } from '../endpoint.ts';
import { codeOf } from '../errors.ts';
import { OutageWatch, StatusError } from '../http/failures.ts';
import { type ModelLimits, OTHERS } from '../pacer.ts';
import { type BatchRequest, type Send, type SentBy, sized } from '../request.ts';
import { failedResult, type JobData, type JobResult } from './queue-job.ts';
import { connectRedis, loadQueuePackages } from './queue-packages.ts';
import { checkWorkerLimits, WorkerLimits } from './worker-limits.ts';

/** A job fails after its workers were killed this number of times: the job may be the cause. */
const MOST_STALLS = 50;
/** Jobs of a worker that was killed are sent by another one after this time. */
const LOCK_MS = 15_000;
/** Extra time to give jobs back, after the time for those in flight, and then shares of limits. */
const CUT_MS = 2_000;

export interface WorkOptions {
  readonly redis: string;
  readonly queue: string;
  /** Names the API and its key: workers with the same name share limits. */
  readonly provider: string;
  readonly limits: LimiterOptions;
  readonly limitsByModel: ModelLimits | undefined;
  readonly send: Send;
  readonly onError: (error: unknown) => void;
  /** Called with a sentence when the limits of another worker have come into force. */
  readonly onOthers: (sentence: string) => void;
}

/** A worker of `headgate run --redis`. */
export interface Work {
  readonly counts: QueueProcessing['counts'];
  /** Resolves when this worker is too old: a worker of its limits has a newer store protocol. */
  readonly refused: Promise<void>;
  /** For how long the server has been down, in ms; 0: it is not. */
  downForMs(): number;
  /** @param drainMs how long requests in flight may take; a later call may shorten it */
  close(drainMs: number): Promise<void>;
}

/**
 * @throws BatchError if a package is missing or Redis cannot be reached; RangeError or TypeError
 * that names a wrong limit
 */
export async function startWork(options: WorkOptions): Promise<Work> {
  const sends = new WorkerSends(options.send);
  const { outage } = sends;
  const classify = (error: unknown) => outage.failed(error);
  // This finds a wrong limit before any connection is open.
  checkWorkerLimits(options.limits, options.limitsByModel);
  const packages = await loadQueuePackages();
  const connection = await connectRedis(packages, options.redis);
  const storeClient = await connectRedis(packages, options.redis, 'fail').catch((error) => {
    // An open connection would keep the process alive.
    connection.disconnect();
    throw error;
  });
  const limits = new WorkerLimits({
    limits: options.limits,
    byModel: options.limitsByModel,
    around: { name: 'work', classify },
    storeOf: (model) => redisStore(storeClient, { key: storeKeyOf(options, model) }),
    onOthers: options.onOthers,
  });
  const worker = new packages.bullmq.Worker<JobData, JobResult>(options.queue, null, {
    connection,
    lockDuration: LOCK_MS,
    stalledInterval: LOCK_MS / 3,
    maxStalledCount: MOST_STALLS,
  });
  worker.on('error', options.onError);
  let refuse = () => {};
  const refused = new Promise<void>((resolve) => {
    refuse = resolve;
  });
  const processing = processQueue(worker, sends.send, {
    limiter: ({ data }) => limits.limiterOf(data),
    request: ({ data }) => {
      const { bytes, tokens } = sized(requestOf(data));
      return { bytes, ...(tokens !== undefined && { tokens }) };
    },
    failed: sends.failed,
    onError: (error) => {
      options.onError(error);
      if (codeOf(error) === 'STORE_PROTOCOL') refuse();
    },
  });
  return {
    refused,
    get counts() {
      return processing.counts;
    },
    downForMs: () => (outage.isDown ? outage.downForMs : 0),
    close: async (drainMs) => {
      const isClosed = processing.close({ drainMs }).then(() => true);
      // Calls to a lost Redis do not end: other workers get the jobs when the locks expire.
      if (!(await Promise.race([isClosed, sleep(drainMs + CUT_MS, false, { ref: false })]))) {
        void worker.close(true).catch(() => {});
        void worker.disconnect().catch(() => {});
      }
      limits.close();
      connection.disconnect();
      // `quit` waits for the calls by which the limits give back their shares. A Redis that is
      // suspended does not answer it.
      const quit = storeClient.quit().catch(() => {});
      await Promise.race([quit, sleep(CUT_MS, undefined, { ref: false })]);
      storeClient.disconnect();
    },
  };
}

/** The key under which the workers of a queue share the limits of a model, or of all models. */
function storeKeyOf({ queue, provider }: WorkOptions, model: string): string {
  const place = `headgate:${encodeURIComponent(queue)}:${provider}`;
  return model === OTHERS ? place : `${place}:${hash('sha256', model).slice(0, 32)}`;
}

/** @throws TypeError for a url that could lead out of the API: others may write to that Redis */
function requestOf({ id, url, body, json }: JobData): BatchRequest {
  if (!isApiPath(url)) throw new TypeError('the url of this job is no path of the API');
  return { id, url, body, json, place: `job ${id}`, hash: '' };
}

/** The beginning of a job's first call. */
interface Begun {
  /** By the system's clock, as BullMQ says when it took the job. */
  readonly wallMs: number;
  /** By a clock that is never set: the call may take hours. */
  readonly at: number;
  rejected: number;
}

/** Sends the requests of jobs, and keeps the start and the 429s of each. */
export class WorkerSends {
  readonly outage = new OutageWatch(() => systemClock.now());
  readonly #send: Send;
  readonly #begun = new WeakMap<object, Begun>();

  constructor(send: Send) {
    this.#send = send;
  }

  readonly send = async (
    job: Job<JobData, JobResult>,
    context: AttemptContext,
  ): Promise<JobResult> => {
    const begun = this.#begun.get(job) ?? begunNow();
    this.#begun.set(job, begun);
    try {
      const { statusCode, requestId, body } = await callOnce(
        this.#send,
        requestOf(job.data),
        context,
      );
      this.outage.answered();
      const response = { statusCode, ...(requestId !== undefined && { requestId }), body };
      return { response, sent: this.#sent(job, context.attempt) };
    } catch (error) {
      if (error instanceof StatusError && error.status === 429) begun.rejected += 1;
      throw error;
    }
  };

  readonly failed = (error: unknown, job: Job<JobData, JobResult>, attempts: number): JobResult =>
    failedResult(error, this.#sent(job, attempts));

  #sent(job: Job<JobData, JobResult>, attempts: number): SentBy {
    const { wallMs, at, rejected } = this.#begun.get(job) ?? begunNow();
    const waitedMs = Math.max(0, wallMs - (job.processedOn ?? wallMs));
    return { attempts, rejected, waitedMs, durationMs: systemClock.now() - at };
  }
}

function begunNow(): Begun {
  return { wallMs: Date.now(), at: systemClock.now(), rejected: 0 };
}
