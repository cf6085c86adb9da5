// `headgate/bullmq`: jobs of a BullMQ queue through a limiter.

import type { AcquireOptions } from '../limiter/acquire-options.ts';
import type { Limiter } from '../limiter/limiter.ts';
import { checkFunction, checkInteger, checkKeys, checkMethods } from '../util/check.ts';
import { type Clock, checkClock, systemClock } from '../util/clock.ts';
import { print } from '../util/print.ts';
import { warn } from '../util/warn.ts';
import { checkWorker, type QueueJob, type QueueWorker } from './job-feed.ts';
import { type FailedJob, QueueRun, type QueueRunCounts, type SendJob } from './queue-run.ts';

export type { QueueJob, QueueWorker } from './job-feed.ts';
export { JobLockLostError } from './job-locks.ts';
export type { FailedJob, QueueRunCounts, SendJob } from './queue-run.ts';

export interface ProcessQueueOptions<J> {
  /**
   * Paces the requests. A function returns the limiter of a job, such as that of its tenant. When
   * the only limiter is closed, or a `StoreProtocolError` shows that this version is too old, no
   * more jobs are taken, waiting jobs go back to the queue, and `onError` gets the error. When a
   * limiter that a function returned is closed, its jobs fail.
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
   * How many jobs may wait here for the limiter, an integer >= 1. All others wait in the queue, in
   * its order, for any worker. Default: the number that began within the last 10 ms, from 1 to 16.
   */
  readonly readAhead?: number;
  /** Called with errors of the queue itself, or of a job's lock. Default: errors are ignored. */
  readonly onError?: (error: unknown, job: J | undefined) => void;
  /** Default: the system clock. */
  readonly clock?: Clock;
}

const KEYS = ['limiter', 'request', 'failed', 'readAhead', 'onError', 'clock'] as const;

/** The processing of a queue. */
export interface QueueProcessing {
  /** The jobs so far, by state. */
  readonly counts: QueueRunCounts;
  /**
   * Takes no more jobs, gives waiting jobs back to the queue, and waits for jobs in flight. Then it
   * closes the worker. A later call may shorten the wait.
   * @param options `drainMs`: how long jobs in flight may take, a number of ms. Then they are
   * aborted and given back too; if the store is away, their locks run out. Default: for ever.
   */
  close(options?: { readonly drainMs?: number }): Promise<void>;
}

/** Workers that were given to `processQueue`. */
const taken = new WeakSet<object>();

/**
 * Sends the jobs of a BullMQ queue through a limiter. A job is taken only when it can be sent soon:
 * until then it waits in the queue, with its priorities and delays, for the first worker that has
 * room. The lock of a job is renewed for as long as it waits or runs.
 *
 * A job completes with the value that `send` returns. It fails with the error of its request, and
 * its log names the number of attempts; BullMQ's own `attempts` come on top. If the lock of a job
 * is lost (the process was stopped, or the store was away for too long), the job is aborted, or not
 * sent if it waited: another worker has it.
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
  if (taken.has(worker)) {
    throw new TypeError('`worker` was given to `processQueue` before: make another one');
  }
  taken.add(worker);
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

/** A callback whose errors do not end the processing of the queue, nor the process. */
function contained<A extends unknown[]>(callback: (...args: A) => unknown): (...args: A) => void {
  return async (...args) => {
    try {
      // An async function has the type of a callback that returns nothing.
      await callback(...args);
    } catch (error) {
      warn(`headgate: \`onError\` threw: ${print(error)}`);
    }
  };
}

function rethrow(error: unknown): never {
  throw error;
}
