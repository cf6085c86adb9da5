import type { BatchRequest } from '../request.ts';

/** The queue through which workers get the requests of a run, as the run sees it. */
export interface RunQueue {
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
