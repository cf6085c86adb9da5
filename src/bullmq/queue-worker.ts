import { checkMethods } from '../util/check.ts';

/** A job as BullMQ's `getNextJob` returns it: `Job` of BullMQ 5.60 and later fits. */
export interface QueueJob<D = unknown> {
  readonly id?: string | undefined;
  readonly data: D;
  moveToCompleted(value: unknown, token: string, fetchNext?: boolean): Promise<unknown>;
  moveToFailed(error: Error, token: string, fetchNext?: boolean): Promise<unknown>;
  /** Gives the job back to the queue. */
  moveToWait(token?: string): Promise<unknown>;
  log(row: string): Promise<unknown>;
}

/** A `Worker` of BullMQ that was made without a processor and does not run by itself. */
export interface QueueWorker<J> {
  readonly opts: { readonly lockDuration?: number | undefined };
  getNextJob(token: string, options?: { block?: boolean }): Promise<J | undefined>;
  /** @returns the ids of the jobs whose locks this worker no longer has */
  extendJobLocks(ids: string[], tokens: string[], durationMs: number): Promise<string[]>;
  startStalledCheckTimer(): Promise<void>;
  isRunning(): boolean;
  close(force?: boolean): Promise<void>;
}

const METHODS = ['getNextJob', 'extendJobLocks', 'startStalledCheckTimer', 'isRunning', 'close'];

/** @throws TypeError for a worker that cannot be used, with what to do */
export function checkWorker(worker: QueueWorker<unknown>): void {
  checkMethods('worker', worker, METHODS);
  if (!worker.isRunning()) return;
  throw new TypeError(
    '`worker` takes jobs by itself: make it without a processor, as `new Worker(name, null, options)`',
  );
}
