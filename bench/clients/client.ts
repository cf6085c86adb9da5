/** What every client runs: takes nothing, does next to nothing, returns a promise. */
export type Task = () => Promise<void>;

/** Runs `task` `count` times, at most `concurrency` at once; resolves when the last one has ended. */
export type RunAll = (task: Task, count: number, concurrency: number) => Promise<void>;

/**
 * Hands over `count` requests whose tasks never end, and returns how many the client has taken and
 * whatever has to stay reachable so that those that wait stay in memory.
 */
export type Fill = (
  task: Task,
  count: number,
  concurrency: number,
) => { taken: number; held: unknown };

export interface ClientModule {
  readonly run: RunAll;
  readonly fill?: Fill;
  /** Throws unless each gate that is on, beside the concurrency, is at work. */
  readonly prove?: (concurrency: number) => Promise<void>;
}

export interface Client {
  /** At most this many tasks a run: without it the slowest peers would take minutes a run. */
  readonly maxTasks?: number;
  /** Tasks run before the clock starts; 20,000 unless the client is too slow for that. */
  readonly warmUp: number;
  /** Imported on demand, so that a process loads the one client that it measures. */
  readonly load: () => Promise<ClientModule>;
}
