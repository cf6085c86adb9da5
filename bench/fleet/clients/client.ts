/** What limits requests over processes. */
import type { Setup } from '../setup.ts';

export interface FleetClient {
  /** One line for a reader. */
  readonly about: string;
  connect(setup: Setup): Promise<Connected>;
}

export interface Connected {
  /**
   * Runs a task when the limits let it.
   * @param signal gives up a task that waits, where the client can
   */
  run(task: () => Promise<void>, signal: AbortSignal): Promise<unknown>;
  close(): Promise<void>;
}

/** More requests than a measurement sends. */
export const UNLIMITED = 1_000_000;
