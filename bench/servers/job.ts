/** The job of a process that runs one client, and its result. */
import type { Task } from './client.ts';
import type { ClientName } from './clients/index.ts';
import type { Ends } from './ends.ts';
import type { Counts } from './meter.ts';

export interface Job extends Task {
  readonly client: ClientName;
  /** The time limit, in milliseconds. Requests that have not succeeded by then count as lost. */
  readonly boundMs: number;
}

export interface Run extends Counts {
  /** The time until the client ended, at most the bound, in milliseconds. */
  readonly ms: number;
  /** Whether the client ended before the bound. */
  readonly isEnded: boolean;
  /** The ends that the client reported; all 0 if it reports none. */
  readonly ends: Ends;
}
