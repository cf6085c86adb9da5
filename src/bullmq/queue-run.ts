import type { AcquireOptions } from '../limiter/acquire-options.ts';
import type { Limiter } from '../limiter/limiter.ts';
import type { AttemptContext } from '../request/attempt-context.ts';
import { checkNumber } from '../util/check.ts';
import type { Clock } from '../util/clock.ts';
import { print } from '../util/print.ts';
import { JobFeed, PAUSE_MS, type QueueJob, type QueueWorker } from './job-feed.ts';
import { type JobLock, JobLockLostError, JobLocks } from './job-locks.ts';
import { hasMoved, isRateLimitError, refusalOf } from './job-rules.ts';
import { QueueReplies } from './queue-replies.ts';

/** The default of BullMQ. */
const DEFAULT_LOCK_MS = 30_000;

/** The reason of an abort: the job goes back to the queue. */
class GivenBack extends Error {}

/** Sends the request of a job; called again when it is retried. */
export type SendJob<J, R> = (job: J, context: AttemptContext) => R | PromiseLike<R>;

/** Returns the value that a job completes with although its request has failed. */
export type FailedJob<J> = (error: unknown, job: J, attempts: number) => unknown;

/** The number of jobs so far, by state. */
export interface QueueRunCounts {
  /** Taken from the queue: the sum of all others. */
  readonly taken: number;
  readonly completed: number;
  readonly failed: number;
  /**
   * Given back to the queue: by `close`, because the limiter no longer sends anything, or by `send`
   * with an error of BullMQ that says so (`DelayedError`, `RateLimitError` …).
   */
  readonly returned: number;
  /** Lost: their locks ended, or the queue did not accept their result. */
  readonly lost: number;
  /** Waiting for the limiter. */
  readonly waiting: number;
  /** Sent, and not yet ended. */
  readonly inFlight: number;
}

interface QueueRunSettings<J, R> {
  readonly worker: QueueWorker<J>;
  readonly send: SendJob<J, R>;
  readonly limiterOf: (job: J) => Limiter;
  /** Whether all jobs have the same limiter. */
  readonly hasOneLimiter: boolean;
  readonly request: (job: J) => Omit<AcquireOptions, 'signal'>;
  readonly failed: FailedJob<J>;
  readonly readAhead: number | undefined;
  readonly onError: (error: unknown, job: J | undefined) => void;
  readonly clock: Clock;
}

/** One job of this run, from the queue to its end. */
interface RunningJob<J> {
  readonly job: J;
  readonly lock: JobLock;
  hasBegun: boolean;
  attempts: number;
}

/** Sends the jobs of a queue, and reports their results to the queue. */
export class QueueRun<J extends QueueJob<unknown>, R> {
  readonly #settings: QueueRunSettings<J, R>;
  readonly #locks: JobLocks;
  readonly #feed: JobFeed<J>;
  readonly #replies: QueueReplies;
  readonly #running = new Map<RunningJob<J>, Promise<void>>();
  readonly #ended = { completed: 0, failed: 0, returned: 0, lost: 0 };
  #taken = 0;
  #isClosing = false;
  #closed: Promise<void> | undefined;
  /** Resolves when no further job can come. */
  #fed: Promise<void> = Promise.resolve();

  constructor(settings: QueueRunSettings<J, R>) {
    const { worker, readAhead, clock } = settings;
    this.#settings = settings;
    const onError = (error: unknown) => settings.onError(error, undefined);
    this.#locks = new JobLocks({
      extend: (ids, tokens, ms) => worker.extendJobLocks(ids, tokens, ms),
      durationMs: worker.opts.lockDuration ?? DEFAULT_LOCK_MS,
      clock,
      onError,
    });
    const onJob = (job: J, token: string, askedAt: number) => this.#take(job, token, askedAt);
    this.#feed = new JobFeed({ worker, readAhead, clock, onJob, onError });
    this.#replies = new QueueReplies(clock);
  }

  get counts(): QueueRunCounts {
    const { waiting } = this.#feed;
    const inFlight = this.#running.size - waiting;
    return { taken: this.#taken, ...this.#ended, waiting, inFlight };
  }

  start(): void {
    const { worker, onError } = this.#settings;
    worker.startStalledCheckTimer().catch((error: unknown) => onError(error, undefined));
    this.#fed = this.#feed.run();
  }

  close({ drainMs }: { readonly drainMs?: number } = {}): Promise<void> {
    if (drainMs !== undefined) checkNumber('drainMs', drainMs, 0);
    const { clock } = this.#settings;
    const drain = drainMs === undefined ? undefined : clock.setTimer(() => this.#drain(), drainMs);
    this.#closed ??= this.#close();
    return this.#closed.finally(() => drain?.cancel());
  }

  /** Takes no more jobs, and gives waiting jobs back. */
  #stop(): void {
    this.#isClosing = true;
    this.#feed.stop();
    this.#giveBack((running) => !running.hasBegun);
  }

  async #close(): Promise<void> {
    this.#stop();
    // A job that was asked for may still come: it is given back before the caller disconnects.
    const fed = this.#replies.of(this.#fed).catch(() => {});
    await this.#allEnded();
    await this.#settings.worker.close(this.#replies.areLast);
    await fed;
    await this.#allEnded();
  }

  #drain(): void {
    this.#replies.limit();
    this.#giveBack(() => true);
  }

  async #allEnded(): Promise<void> {
    while (this.#running.size > 0) await Promise.all(this.#running.values());
  }

  #giveBack(isMeant: (running: RunningJob<J>) => boolean): void {
    for (const running of this.#running.keys()) {
      if (isMeant(running)) running.lock.abort.abort(new GivenBack());
    }
  }

  #take(job: J, token: string, askedAt: number): void {
    const lock = this.#locks.hold(job.id ?? token, token, askedAt);
    if (this.#isClosing) lock.abort.abort(new GivenBack());
    const running = { job, lock, hasBegun: false, attempts: 0 };
    this.#taken += 1;
    // Not in this call: `send` may close the queue, and this job must be known then.
    const ended = Promise.resolve()
      .then(() => this.#process(running))
      .catch((error: unknown) => this.#settings.onError(error, job))
      .finally(() => this.#end(running));
    this.#running.set(running, ended);
  }

  #end(running: RunningJob<J>): void {
    this.#running.delete(running);
    this.#locks.release(running.lock);
    if (!running.hasBegun) this.#feed.leftWaiting();
    void this.#feed.ended();
  }

  async #process(running: RunningJob<J>): Promise<void> {
    const refusal = refusalOf(running.job, this.#settings.worker.opts);
    if (refusal !== undefined) return this.#failed(running, refusal);
    try {
      await this.#complete(running, await this.#send(running));
    } catch (error) {
      await this.#fail(running, error);
    }
  }

  #send(running: RunningJob<J>): Promise<R> {
    const { job, lock } = running;
    const { limiterOf, request, send } = this.#settings;
    const task = (context: AttemptContext) => {
      running.attempts = context.attempt;
      if (!running.hasBegun) {
        running.hasBegun = true;
        this.#feed.begun();
      }
      return this.#locks.isStale(lock)
        ? this.#locks.confirm(lock).then(() => send(job, context))
        : send(job, context);
    };
    return limiterOf(job).run(task, { ...request(job), signal: lock.abort.signal });
  }

  async #fail(running: RunningJob<J>, error: unknown): Promise<void> {
    const { job, lock, attempts } = running;
    const { reason } = lock.abort.signal;
    const isGivenBack = reason instanceof GivenBack || isRateLimitError(error);
    if (hasMoved(error)) {
      this.#ended.returned += 1;
    } else if (reason instanceof JobLockLostError) {
      this.#lose(job, reason);
    } else if (isGivenBack || this.#refuses(error, job)) {
      await this.#tell(running, 'returned', () => job.moveToWait(lock.token));
    } else {
      try {
        await this.#complete(running, await this.#settings.failed(error, job, attempts));
      } catch (final) {
        await this.#failed(running, final);
      }
    }
  }

  async #failed(running: RunningJob<J>, error: unknown): Promise<void> {
    const { job, lock, attempts } = running;
    const failure = error instanceof Error ? error : new Error(print(error));
    await this.#tell(running, 'failed', async () => {
      await job.log(`headgate: failed after ${attempts} attempts: ${print(error)}`);
      await job.moveToFailed(failure, lock.token, false);
    });
  }

  /** Whether the error means that nothing more can be sent. Then this worker takes no more jobs. */
  #refuses(error: unknown, job: J): boolean {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    const isClosed = code === 'LIMITER_CLOSED' && this.#settings.hasOneLimiter;
    if (!isClosed && code !== 'STORE_PROTOCOL') return false;
    if (this.#isClosing) return true;
    this.#stop();
    this.#settings.onError(error, job);
    return true;
  }

  async #complete(running: RunningJob<J>, value: unknown): Promise<void> {
    const { job, lock } = running;
    // Throws for a value that JSON cannot represent: the queue stores values as JSON.
    JSON.stringify(value);
    await this.#tell(running, 'completed', () => job.moveToCompleted(value, lock.token, false));
  }

  /** Reports the result of a job. Repeats that while the store is away. */
  async #tell(
    { job }: RunningJob<J>,
    end: 'completed' | 'failed' | 'returned',
    tell: () => Promise<unknown>,
  ): Promise<void> {
    for (;;) {
      try {
        await this.#replies.of(tell());
        this.#ended[end] += 1;
        return;
      } catch (error) {
        if (this.#replies.areLast || !isAway(error)) return this.#lose(job, error);
        await new Promise<void>((resolve) => this.#settings.clock.setTimer(resolve, PAUSE_MS));
      }
    }
  }

  #lose(job: J, error: unknown): void {
    this.#ended.lost += 1;
    this.#settings.onError(error, job);
  }
}

const CONNECTION_ERROR = /ECONN|EPIPE|ETIMEDOUT|closed|socket|offline|timed? ?out|cluster/i;
/** Refusals of Redis that do not concern the job: Redis is full, busy, or denies access. */
const REFUSAL =
  /\b(LOADING|READONLY|NOAUTH|WRONGPASS|NOPERM|OOM|MISCONF|BUSY|MASTERDOWN|NOREPLICAS|TRYAGAIN)\b/;

/** Whether the error means that the store is away. */
function isAway(error: unknown): boolean {
  // An answer of the queue: its code is a number, and its text quotes the id of the job.
  if (error instanceof Error && 'code' in error && typeof error.code === 'number') return false;
  const text = print(error);
  return CONNECTION_ERROR.test(text) || REFUSAL.test(text);
}
