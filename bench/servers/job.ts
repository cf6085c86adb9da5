/** What a process that runs one client is told, and what it answers. */
import type { Task } from './client.ts';
import type { ClientName } from './clients/index.ts';
import type { Ends } from './ends.ts';
import type { Counts } from './meter.ts';

export interface Job extends Task {
  readonly client: ClientName;
  /** What has not succeeded by then is lost, in milliseconds. */
  readonly boundMs: number;
}

export interface Run extends Counts {
  /** Until the client had ended, or the bound, in milliseconds. */
  readonly ms: number;
  /** Whether the client came to an end before the bound. */
  readonly isEnded: boolean;
  /** As the client was told; all 0 where it is told nothing. */
  readonly ends: Ends;
}
