import type { Clock, Timer } from '../util/clock.ts';

/** Locks are renewed this number of times within their duration. */
const RENEWALS = 3;

/** The lock of the job has ended: another worker gets the job, and its result here is dropped. */
export class JobLockLostError extends Error {
  override readonly name = 'JobLockLostError';

  /** The id of the job. */
  readonly id: string;

  constructor(id: string) {
    super(`the lock of job ${id} has ended: another worker may run the job`);
    this.id = id;
  }
}

/** The lock of one job that this process has taken. */
export interface JobLock {
  readonly id: string;
  readonly token: string;
  /** Aborts when the lock of the job is lost, or the job is given back. */
  readonly abort: AbortController;
  /** When the lock was last known to be held, in ms of the clock. */
  renewedAt: number;
}

/** Renews the locks of jobs. */
type ExtendLocks = (ids: string[], tokens: string[], durationMs: number) => Promise<string[]>;

interface JobLockSettings {
  readonly extend: ExtendLocks;
  readonly durationMs: number;
  readonly clock: Clock;
  readonly onError: (error: unknown) => void;
}

/**
 * Renews the locks of all jobs that wait or run here, for as long as that takes. Without renewal
 * BullMQ gives a job to another worker after 30 s.
 */
export class JobLocks {
  readonly #held = new Map<string, JobLock>();
  readonly #extend: ExtendLocks;
  readonly #durationMs: number;
  readonly #clock: Clock;
  readonly #onError: (error: unknown) => void;
  #timer: Timer | undefined;

  constructor({ extend, durationMs, clock, onError }: JobLockSettings) {
    this.#extend = extend;
    this.#durationMs = durationMs;
    this.#clock = clock;
    this.#onError = onError;
  }

  /** @param takenAt when the queue was asked for the job; the lock is not older */
  hold(id: string, token: string, takenAt: number): JobLock {
    const lock = { id, token, abort: new AbortController(), renewedAt: takenAt };
    // If the job was taken here before, its first lock has ended and cannot be renewed.
    this.#held.get(id)?.abort.abort(new JobLockLostError(id));
    this.#held.set(id, lock);
    this.#renewLater();
    return lock;
  }

  release(lock: JobLock): void {
    if (this.#held.get(lock.id) === lock) this.#held.delete(lock.id);
    if (this.#held.size > 0) return;
    this.#timer?.cancel();
    this.#timer = undefined;
  }

  /** Whether the lock may have ended: the process was stopped, or the store was away. */
  isStale(lock: JobLock): boolean {
    return this.#clock.now() - lock.renewedAt >= this.#durationMs;
  }

  /**
   * Renews one lock. If the store does not answer, the lock counts as lost: an error of the store
   * would look like one of the API to the limiter.
   * @throws JobLockLostError if another worker may have the job
   */
  async confirm(lock: JobLock): Promise<void> {
    await this.#renew([lock]).catch((error: unknown) => {
      this.#onError(error);
      lock.abort.abort(new JobLockLostError(lock.id));
    });
    if (lock.abort.signal.aborted) throw lock.abort.signal.reason;
  }

  async #renewAll(): Promise<void> {
    // Cleared first, so that jobs that come meanwhile can set the next timer.
    this.#timer = undefined;
    await this.#renew([...this.#held.values()]).catch(this.#onError);
    if (this.#held.size > 0) this.#renewLater();
  }

  #renewLater(): void {
    this.#timer ??= this.#clock.setTimer(() => this.#renewAll(), this.#durationMs / RENEWALS);
  }

  async #renew(locks: readonly JobLock[]): Promise<void> {
    const askedAt = this.#clock.now();
    const ids = locks.map(({ id }) => id);
    const tokens = locks.map(({ token }) => token);
    const lost = new Set(await this.#extend(ids, tokens, this.#durationMs));
    for (const lock of locks) {
      if (lost.has(lock.id)) lock.abort.abort(new JobLockLostError(lock.id));
      else lock.renewedAt = askedAt;
    }
  }
}
