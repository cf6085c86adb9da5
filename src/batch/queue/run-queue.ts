/** The queue through which workers get the requests of a run, as the run sees it. */
export interface RunQueue {
  /**
   * Takes requests out of the queue that no worker has: they end with a NotSentError. From now on
   * no request is added.
   */
  withdraw(): void;
}
