/** The task that every client runs: no arguments, hardly any work, a promise as result. */
export type Task = () => Promise<void>;

/**
 * Runs `task` `count` times, at most `concurrency` at once; resolves when the last one has ended.
 */
export type RunAll = (task: Task, count: number, concurrency: number) => Promise<void>;

/**
 * Submits `count` requests whose tasks never end. Returns how many the client has accepted, and the
 * objects that must stay reachable to keep the waiting requests in memory.
 */
export type Fill = (
  task: Task,
  count: number,
  concurrency: number,
) => { taken: number; held: unknown };

export interface ClientModule {
  readonly run: RunAll;
  readonly fill?: Fill;
  /** Throws unless each gate of the client, other than the concurrency, has an effect. */
  readonly prove?: (concurrency: number) => Promise<void>;
}

export interface Client {
  /** The most tasks of a run. Without this bound a run of the slowest peers would take minutes. */
  readonly maxTasks?: number;
  /** Tasks that run before the clock starts: 20,000, or fewer for a slow client. */
  readonly warmUp: number;
  /** Imports clients on demand, so that a process loads only the client that it measures. */
  readonly load: () => Promise<ClientModule>;
}
