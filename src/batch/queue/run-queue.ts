import type { BatchRequest } from '../request.ts';

/** The requests of a run that are in the queue, as far as the run knows. */
export interface QueueCounts {
  /** Requests that no worker has. */
  readonly queued: number;
  /** Requests that workers have. */
  readonly active: number;
  /** Whether a worker is connected; undefined: that is not known. */
  readonly hasWorker: boolean | undefined;
}

/** The queue through which workers get the requests of a run, as the run sees it. */
export interface RunQueue {
  readonly counts: QueueCounts;
  /**
   * Takes requests out of the queue that no worker has: they end with a NotSentError. From now on
   * no request is added.
   */
  withdraw(): void;
  /** Takes the answers that are in the queue now, without waiting for their events. */
  collect(): Promise<void>;
  /** The answers to these requests need not be kept: their results are on disk. */
  forget(requests: readonly BatchRequest[]): void;
}
