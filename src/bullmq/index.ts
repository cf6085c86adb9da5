// `headgate/bullmq`: jobs of a BullMQ queue through a limiter.
import type { Limiter } from '../limiter/limiter.ts';
import type { AcquireOptions } from '../limiter/limiter-options.ts';
import { checkFunction, checkInteger, checkKeys, checkMethods } from '../util/check.ts';
import { type Clock, checkClock, systemClock } from '../util/clock.ts';
import { print } from '../util/print.ts';
import { checkWorker, type QueueJob, type QueueWorker } from './job-feed.ts';
import { type FailedJob, QueueRun, type QueueRunCounts, type SendJob } from './queue-run.ts';

export type { QueueJob, QueueWorker } from './job-feed.ts';
export { JobLockLostError } from './job-locks.ts';
export type { FailedJob, QueueRunCounts, SendJob } from './queue-run.ts';

export interface ProcessQueueOptions<J> {
  /**
   * Paces the requests. A function gives each job its own, such as that of its tenant. When it is
   * closed, or a `StoreProtocolError` says that it is too old, no more jobs are taken and those that
   * wait go back to the queue. `onError` gets the error. That one tenant's is closed fails its jobs.
   */
  readonly limiter: Limiter | ((job: J) => Limiter);
  /**
   * Returns the limiter options of a job's request: its costs and its priority. Default: no
   * options.
   */
  readonly request?: (job: J) => Omit<AcquireOptions, 'signal'>;
  /**
   * Called when the request of a job has failed for good. The job completes with the returned
   * value; if this throws, the job fails with that error. Default: the job fails with the error of
   * the request.
   */
  readonly failed?: FailedJob<J>;
  /**
   * How many jobs may wait here for the limiter, an integer >= 1. All others wait in the queue, in its
   * order, for any worker. Default: as many as began within the last 10 ms, from 1 to 16.
   */
  readonly readAhead?: number;
  /** Is told what went wrong with the queue itself, or with a job's lock. Default: nothing. */
  readonly onError?: (error: unknown, job: J | undefined) => void;
  /** Default: the system's. */
  readonly clock?: Clock;
}

const KEYS = ['limiter', 'request', 'failed', 'readAhead', 'onError', 'clock'] as const;

/** A queue that is being worked on. */
export interface QueueProcessing {
  /** Jobs so far. */
  readonly counts: QueueRunCounts;
  /**
   * Takes no more jobs, gives those that wait back to the queue, and waits for those in flight. Then
   * it closes the worker. A later call may shorten the wait.
   * @param options `drainMs`: how long those in flight may take, a number of ms; the others are aborted
   * and given back too, or left to their locks where the store is away. Default: for ever.
   */
  close(options?: { readonly drainMs?: number }): Promise<void>;
}

/**
 * Sends the jobs of a BullMQ queue through a limiter. A job is taken when it can be sent soon, and
 * not earlier: others wait in the queue, with its priorities and delays, for the first worker that has
 * room. The lock of a job is renewed for as long as it waits or runs.
 *
 * A job completes with what `send` returns. It fails with the error of its request, and with a line
 * in its log that says after how many attempts; BullMQ's own `attempts` come on top. A job whose lock
 * was lost (the process stood still, the store was away for too long) is aborted, and not sent if it
 * waited: another worker has it.
 *
 * @param worker a `Worker` of BullMQ without a processor; `close` of the result closes it
 * @throws RangeError or TypeError that names a wrong option
 * @example
 * const worker = new Worker('prompts', null, { connection });
 * const limiter = createLimiter({ requestsPerMinute: 500 });
 * const processing = processQueue(worker, (job) => client.responses.create(job.data), { limiter });
 */
export function processQueue<J extends QueueJob<unknown>, R>(
  worker: QueueWorker<J>,
  send: SendJob<J, R>,
  options: ProcessQueueOptions<J>,
): QueueProcessing {
  checkWorker(worker);
  checkFunction('send', send);
  checkKeys('processQueue', options, KEYS);
  const { limiter, request, failed, readAhead, onError, clock = systemClock } = options;
  if (typeof limiter !== 'function') checkMethods('limiter', limiter, ['run']);
  if (request !== undefined) checkFunction('request', request);
  if (failed !== undefined) checkFunction('failed', failed);
  if (readAhead !== undefined) checkInteger('readAhead', readAhead, 1);
  if (onError !== undefined) checkFunction('onError', onError);
  checkClock(clock);
  const run = new QueueRun<J, R>({
    worker,
    send,
    limiterOf: typeof limiter === 'function' ? limiter : () => limiter,
    hasOneLimiter: typeof limiter !== 'function',
    request: request ?? (() => ({})),
    failed: failed ?? rethrow,
    readAhead,
    onError: contained(onError ?? (() => {})),
    clock,
  });
  run.start();
  return run;
}

/** What a callback throws must not end the work on the queue. */
function contained<A extends unknown[]>(callback: (...args: A) => void): (...args: A) => void {
  return (...args) => {
    try {
      callback(...args);
    } catch (error) {
      process.emitWarning(`headgate: \`onError\` threw: ${print(error)}`);
    }
  };
}

function rethrow(error: unknown): never {
  throw error;
}
