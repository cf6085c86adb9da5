import type { Limiter } from '../limiter/limiter.ts';
import type { AcquireOptions } from '../limiter/limiter-options.ts';
import type { AttemptContext } from '../request/attempt-context.ts';
import { checkNumber } from '../util/check.ts';
import type { Clock } from '../util/clock.ts';
import { print } from '../util/print.ts';
import { BeginRate } from './begin-rate.ts';
import { type JobLock, JobLockLostError, JobLocks } from './job-locks.ts';
import type { QueueJob, QueueWorker } from './queue-worker.ts';

/** BullMQ's own. */
const DEFAULT_LOCK_MS = 30_000;
const MOST_READ_AHEAD = 1_000;
/** Jobs that are asked for at the same time: one after the other, each costs a round trip. */
const MOST_AT_ONCE = 16;
/** A queue that answers sooner that it has nothing did not wait for a job. */
const WAITED_MS = 50;
/** Before the queue is asked again: it is paused, or the store is away. */
const PAUSE_MS = 1_000;

/** The job goes back to the queue: it was not sent. */
class GivenBack extends Error {}

/** Sends the request of a job; called again when it is retried. */
export type SendJob<J, R> = (job: J, context: AttemptContext) => R | PromiseLike<R>;

export interface QueueRunCounts {
  /** Taken from the queue. Each is counted once more below, when it has ended. */
  readonly taken: number;
  readonly completed: number;
  readonly failed: number;
  /** Given back to the queue by `close`. */
  readonly returned: number;
  /** Lost to another worker, with their locks. */
  readonly lost: number;
  /** Taken, and waiting for the limiter. */
  readonly waiting: number;
  /** Sent, and not yet ended. */
  readonly inFlight: number;
}

interface QueueRunSettings<J, R> {
  readonly worker: QueueWorker<J>;
  readonly send: SendJob<J, R>;
  readonly limiterOf: (job: J) => Limiter;
  readonly request: (job: J) => Omit<AcquireOptions, 'signal'>;
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

/** Takes jobs from a queue as they can be sent, and tells it how they have ended. */
export class QueueRun<J extends QueueJob<unknown>, R> {
  readonly #settings: QueueRunSettings<J, R>;
  readonly #locks: JobLocks;
  readonly #began = new BeginRate(MOST_READ_AHEAD);
  readonly #running = new Map<RunningJob<J>, Promise<void>>();
  #taken = 0;
  #completed = 0;
  #failed = 0;
  #returned = 0;
  #lost = 0;
  #waiting = 0;
  #inFlight = 0;
  #isClosing = false;
  /** The queue had nothing when it was asked last. */
  #wasEmpty = false;
  #wake: (() => void) | undefined;
  #closed: Promise<void> | undefined;

  constructor(settings: QueueRunSettings<J, R>) {
    const { worker, clock, onError } = settings;
    this.#settings = settings;
    this.#locks = new JobLocks(
      (ids, tokens, ms) => worker.extendJobLocks(ids, tokens, ms),
      worker.opts.lockDuration ?? DEFAULT_LOCK_MS,
      clock,
      (error) => onError(error, undefined),
    );
  }

  get counts(): QueueRunCounts {
    return {
      taken: this.#taken,
      completed: this.#completed,
      failed: this.#failed,
      returned: this.#returned,
      lost: this.#lost,
      waiting: this.#waiting,
      inFlight: this.#inFlight,
    };
  }

  start(): void {
    const { worker, onError } = this.#settings;
    worker.startStalledCheckTimer().catch((error: unknown) => onError(error, undefined));
    void this.#take();
  }

  close({ drainMs }: { readonly drainMs?: number } = {}): Promise<void> {
    if (drainMs !== undefined) checkNumber('drainMs', drainMs, 0);
    this.#closed ??= this.#close(drainMs);
    return this.#closed;
  }

  async #close(drainMs: number | undefined): Promise<void> {
    this.#isClosing = true;
    this.#wake?.();
    this.#giveBack((running) => !running.hasBegun);
    const { clock, worker } = this.#settings;
    const drain =
      drainMs === undefined
        ? undefined
        : clock.setTimer(() => this.#giveBack(() => true), drainMs, false);
    while (this.#running.size > 0) await Promise.all(this.#running.values());
    drain?.cancel();
    await worker.close();
  }

  #giveBack(isMeant: (running: RunningJob<J>) => boolean): void {
    for (const running of this.#running.keys()) {
      if (isMeant(running)) running.lock.abort.abort(new GivenBack());
    }
  }

  /** Takes jobs until `close`. */
  async #take(): Promise<void> {
    while (!this.#isClosing) {
      if (this.#room === 0) await this.#moreRoom();
      else if (await this.#next(true)) await this.#takeAtOnce();
    }
  }

  /** One job has come at once, and so more may be there. */
  async #takeAtOnce(): Promise<void> {
    let areThereMore = true;
    while (areThereMore && this.#room > 0 && !this.#isClosing) {
      const asked = Array.from({ length: Math.min(this.#room, MOST_AT_ONCE) });
      const came = await Promise.all(asked.map(() => this.#next(false)));
      areThereMore = came.every((came) => came);
    }
  }

  /** Jobs that may be taken now. */
  get #room(): number {
    const { readAhead, clock } = this.#settings;
    const most = readAhead ?? Math.max(1, this.#began.perSecond(clock.now()));
    return Math.max(0, most - this.#waiting);
  }

  async #moreRoom(): Promise<void> {
    await new Promise<void>((resolve) => {
      this.#wake = resolve;
    });
    this.#wake = undefined;
  }

  /**
   * Takes one job, if there is one.
   * @param block whether to wait for one where the queue is empty
   */
  async #next(block: boolean): Promise<boolean> {
    const { worker, clock, onError } = this.#settings;
    const askedAt = clock.now();
    const token = crypto.randomUUID();
    try {
      const job = await worker.getNextJob(token, { block });
      if (job !== undefined) {
        this.#wasEmpty = false;
        this.#begin(job, token, askedAt);
        return true;
      }
    } catch (error) {
      onError(error, undefined);
    }
    if (!block) return false;
    // The first empty answer ends a queue that had jobs, and the next call waits for one.
    const mayAskAgain = !this.#wasEmpty || clock.now() - askedAt >= WAITED_MS;
    this.#wasEmpty = true;
    if (!mayAskAgain) await this.#pause();
    return false;
  }

  #pause(): Promise<void> {
    return new Promise((resolve) => this.#settings.clock.setTimer(resolve, PAUSE_MS));
  }

  #begin(job: J, token: string, askedAt: number): void {
    const lock = this.#locks.hold(job.id ?? token, token, askedAt);
    const running = { job, lock, hasBegun: false, attempts: 0 };
    if (this.#isClosing) lock.abort.abort(new GivenBack());
    this.#taken += 1;
    this.#waiting += 1;
    const ended = this.#process(running)
      .catch((error: unknown) => this.#settings.onError(error, job))
      .finally(() => this.#end(running));
    this.#running.set(running, ended);
  }

  #end(running: RunningJob<J>): void {
    this.#running.delete(running);
    this.#locks.release(running.lock);
    if (running.hasBegun) this.#inFlight -= 1;
    else this.#leaves();
  }

  async #process(running: RunningJob<J>): Promise<void> {
    const { job, lock } = running;
    let value: unknown;
    try {
      value = await this.#send(running);
      // The queue keeps it as JSON, and would refuse what has none.
      JSON.stringify(value);
    } catch (error) {
      return await this.#fail(running, error);
    }
    await this.#tell(running, () => job.moveToCompleted(value, lock.token, false));
  }

  #send(running: RunningJob<J>): Promise<R> {
    const { job, lock } = running;
    const { limiterOf, request, send } = this.#settings;
    const task = (context: AttemptContext) => {
      running.attempts = context.attempt;
      this.#sends(running);
      return this.#locks.isStale(lock)
        ? this.#locks.confirm(lock).then(() => send(job, context))
        : send(job, context);
    };
    return limiterOf(job).run(task, { ...request(job), signal: lock.abort.signal });
  }

  #sends(running: RunningJob<J>): void {
    if (running.hasBegun) return;
    running.hasBegun = true;
    this.#inFlight += 1;
    this.#began.add(this.#settings.clock.now());
    this.#leaves();
  }

  #leaves(): void {
    this.#waiting -= 1;
    this.#wake?.();
  }

  async #fail(running: RunningJob<J>, error: unknown): Promise<void> {
    const { job, lock, attempts } = running;
    const { reason } = lock.abort.signal;
    if (reason instanceof JobLockLostError) this.#lose(job, reason);
    else if (reason instanceof GivenBack) {
      await job.moveToWait(lock.token);
      this.#returned += 1;
    } else {
      const failure = error instanceof Error ? error : new Error(print(error));
      await this.#tell(
        running,
        async () => {
          await job.log(`headgate: failed after ${attempts} attempts: ${print(error)}`);
          await job.moveToFailed(failure, lock.token, false);
        },
        failure,
      );
    }
  }

  #lose(job: J, error: unknown): void {
    this.#lost += 1;
    this.#settings.onError(error, job);
  }

  /** Tells the queue how a job has ended: again, while the store is away and the lock may be held. */
  async #tell(
    { job, lock }: RunningJob<J>,
    tell: () => Promise<unknown>,
    failure?: Error,
  ): Promise<void> {
    for (;;) {
      try {
        await tell();
        if (failure === undefined) this.#completed += 1;
        else this.#failed += 1;
        return;
      } catch (error) {
        if (!isConnectionError(error) || lock.abort.signal.aborted) return this.#lose(job, error);
        await this.#pause();
      }
    }
  }
}

const CONNECTION_ERROR =
  /ECONN|EPIPE|ETIMEDOUT|closed|socket|offline|LOADING|READONLY|timed? ?out/i;

function isConnectionError(error: unknown): boolean {
  return CONNECTION_ERROR.test(print(error));
}
