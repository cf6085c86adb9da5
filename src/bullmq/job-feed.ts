import { checkMethods } from '../util/check.ts';
import type { Clock, Timer } from '../util/clock.ts';

/** A job as BullMQ's `getNextJob` returns it: `Job` of BullMQ 5.63.2 and later fits. */
export interface QueueJob<D = unknown> {
  readonly id?: string | undefined;
  readonly data: D;
  /** Why the job must fail without being sent. */
  readonly deferredFailure?: string | undefined;
  /** How often the job was taken, this time included. */
  readonly attemptsStarted?: number | undefined;
  moveToCompleted(value: unknown, token: string, fetchNext?: boolean): Promise<unknown>;
  moveToFailed(error: Error, token: string, fetchNext?: boolean): Promise<unknown>;
  /** Gives the job back to the queue. */
  moveToWait(token?: string): Promise<unknown>;
  log(row: string): Promise<unknown>;
}

/** A `Worker` of BullMQ that was made without a processor and does not run by itself. */
export interface QueueWorker<J> {
  readonly opts: {
    readonly lockDuration?: number | undefined;
    readonly maxStartedAttempts?: number | undefined;
  };
  getNextJob(token: string, options?: { block?: boolean }): Promise<J | undefined>;
  /** @returns the ids of the jobs whose locks this worker no longer has */
  extendJobLocks(ids: string[], tokens: string[], durationMs: number): Promise<string[]>;
  startStalledCheckTimer(): Promise<void>;
  isRunning(): boolean;
  close(force?: boolean): Promise<void>;
}

const METHODS = ['getNextJob', 'extendJobLocks', 'startStalledCheckTimer', 'isRunning', 'close'];

/** @throws TypeError for a worker that cannot be used; the message names the remedy */
export function checkWorker(worker: QueueWorker<unknown>): void {
  checkMethods('worker', worker, METHODS);
  if (!worker.isRunning()) return;
  throw new TypeError(
    '`worker` takes jobs by itself: make it without a processor, as `new Worker(name, null, options)`',
  );
}

/** The most jobs asked for in parallel; one after the other, each would cost a round trip. */
const MOST_AT_ONCE = 16;
/** About the time of a reply of the queue: jobs that begin within it must be read ahead. */
const AHEAD_MS = 10;
/** A call that returns no job sooner than this has not blocked. */
const WAITED_MS = 50;
/**
 * The first pause before the queue is asked again, if it is paused, its rate is limited, or the
 * store is away. It grows each time, so that it adds little to a short wait.
 */
const FIRST_PAUSE_MS = 50;
const PAUSE_FACTOR = 1.25;
/** The longest pause, and the one before a result is reported again. */
export const PAUSE_MS = 1_000;

interface JobFeedSettings<J> {
  readonly worker: QueueWorker<J>;
  readonly readAhead: number | undefined;
  readonly clock: Clock;
  /** A job that was taken. `askedAt`: when the queue was asked for it, in ms of the clock. */
  readonly onJob: (job: J, token: string, askedAt: number) => void;
  readonly onError: (error: unknown) => void;
}

/** Takes jobs from a queue, but never more than can be sent soon. */
export class JobFeed<J> {
  readonly #settings: JobFeedSettings<J>;
  /** When the latest jobs began, in ms of the clock. */
  #begunAt: number[] = [];
  #waiting = 0;
  #isStopped = false;
  /** Calls that do not block and have no answer yet. */
  #asked = 0;
  /** Whether the queue is asked no further before it has a job, or a pause ends. */
  #isIdle = false;
  #isLooking = false;
  /** Whether a job has ended since the queue was last asked. */
  #hasEnded = false;
  /** The pause after the next blocking call, if it returns no job without waiting for one. */
  #pauseMs = 0;
  #wake: (() => void) | undefined;
  #endPause: (() => void) | undefined;

  constructor(settings: JobFeedSettings<J>) {
    this.#settings = settings;
  }

  /** Jobs that were taken and have neither begun nor ended. */
  get waiting(): number {
    return this.#waiting;
  }

  /** A waiting job has begun. */
  begun(): void {
    this.#begunAt = [...this.#begunAt.slice(1 - MOST_AT_ONCE), this.#settings.clock.now()];
    this.leftWaiting();
  }

  /** A job has left the wait: it has begun, or has ended before it began. */
  leftWaiting(): void {
    this.#waiting -= 1;
    this.#wake?.();
  }

  /**
   * A job has ended, and the queue knows. A blocked call does not wake then if the queue limits how
   * many jobs are active, so asks the queue without blocking.
   */
  async ended(): Promise<void> {
    this.#hasEnded = true;
    if (this.#isLooking) return;
    this.#isLooking = true;
    while (this.#hasEnded && this.#isIdle && this.#room > 0 && !this.#isStopped) {
      if (await this.#next(false)) await this.#takeAtOnce();
    }
    this.#isLooking = false;
  }

  stop(): void {
    this.#isStopped = true;
    this.#endPause?.();
  }

  /** Takes jobs until it is stopped. One that was asked for before may still come after `stop`. */
  async run(): Promise<void> {
    while (!this.#isStopped) {
      if (this.#room === 0) {
        await this.#oneLeaves();
        continue;
      }
      this.#isIdle = !this.#hasEnded;
      const hasCome = await this.#next(this.#isIdle);
      this.#isIdle = false;
      if (hasCome) await this.#takeAtOnce();
    }
  }

  /** Takes further jobs in parallel, after one job has come. */
  async #takeAtOnce(): Promise<void> {
    let areThereMore = true;
    while (areThereMore && this.#room > 0 && !this.#isStopped) {
      const asked = Array.from({ length: Math.min(this.#room, MOST_AT_ONCE) });
      const came = await Promise.all(asked.map(() => this.#next(false)));
      areThereMore = came.every((hasCome) => hasCome);
    }
  }

  /** The number of jobs that may be taken now. */
  get #room(): number {
    const { readAhead, clock } = this.#settings;
    const since = clock.now() - AHEAD_MS;
    const most = readAhead ?? Math.max(1, this.#begunAt.filter((time) => time > since).length);
    return Math.max(0, most - this.#waiting - this.#asked);
  }

  #oneLeaves(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve;
    });
  }

  /**
   * Takes one job, if there is one.
   * @param block whether to wait for a job if the queue is empty
   * @returns whether a job has come
   */
  async #next(block: boolean): Promise<boolean> {
    const { worker, clock, onJob, onError } = this.#settings;
    const askedAt = clock.now();
    const token = crypto.randomUUID();
    this.#hasEnded = false;
    if (!block) this.#asked += 1;
    try {
      const job = await worker.getNextJob(token, { block });
      if (job !== undefined) {
        this.#pauseMs = 0;
        this.#waiting += 1;
        onJob(job, token, askedAt);
        return true;
      }
    } catch (error) {
      onError(error);
    } finally {
      if (!block) {
        this.#asked -= 1;
        this.#wake?.();
      }
    }
    if (!block) return false;
    const hasWaited = clock.now() - askedAt >= WAITED_MS;
    const pauseMs = hasWaited ? 0 : this.#pauseMs;
    // The first call after a job may return at once. If a further call does so too, pause.
    this.#pauseMs = hasWaited
      ? 0
      : Math.min(PAUSE_MS, Math.max(FIRST_PAUSE_MS, PAUSE_FACTOR * pauseMs));
    if (pauseMs > 0 && !this.#isStopped) await this.#pause(pauseMs);
    return false;
  }

  async #pause(ms: number): Promise<void> {
    const { clock } = this.#settings;
    let timer: Timer | undefined;
    await new Promise<void>((resolve) => {
      this.#endPause = resolve;
      timer = clock.setTimer(resolve, ms, false);
    });
    timer?.cancel();
  }
}
