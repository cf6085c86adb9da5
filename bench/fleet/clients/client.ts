/** A client that limits requests across processes. */
import type { Setup } from '../setup.ts';

export interface FleetClient {
  /** A description in one line. */
  readonly about: string;
  connect(setup: Setup): Promise<Connected>;
}

export interface Connected {
  /**
   * Runs a task when the limits admit it.
   * @param signal cancels a waiting task, if the client supports that
   */
  run(task: () => Promise<void>, signal: AbortSignal): Promise<unknown>;
  close(): Promise<void>;
}

/** More requests than a measurement sends. */
export const UNLIMITED = 1_000_000;
