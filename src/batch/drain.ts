import { setImmediate, setTimeout as sleep } from 'node:timers/promises';
import type { Attempts } from './attempts.ts';
import type { RunQueue } from './queue/run-queue.ts';

/** How long the end of a run waits for answers that are in the queue already. */
const COLLECT_MS = 2_000;

interface Draining {
  readonly attempts: Attempts;
  /** The queue of workers, if they send the requests. */
  readonly queue: RunQueue | undefined;
  /** How long requests in flight may take. */
  readonly drainMs: number;
  /** Ends the wait at once. */
  readonly abortSignal: AbortSignal | undefined;
  /** Fires when the run no longer listens. */
  readonly ended: AbortSignal;
}

/** Waits for the requests in flight when a run has stopped, and lets workers begin no others. */
export async function drain(draining: Draining): Promise<void> {
  const { attempts, queue, drainMs, abortSignal, ended } = draining;
  const aborted = onAbort(abortSignal, ended);
  queue?.withdraw();
  await Promise.race([attempts.idle(), sleep(drainMs, undefined, { ref: false }), aborted]);
  if (queue === undefined || attempts.active === 0 || abortSignal?.aborted) return;
  await Promise.race([queue.collect(), sleep(COLLECT_MS, undefined, { ref: false }), aborted]);
  // The outcomes of the answers are passed on.
  await setImmediate();
}

/**
 * Resolves when the signal fires; never if there is no signal.
 * @param ended removes the listener when it fires: a signal may outlive many runs
 */
export function onAbort(signal: AbortSignal | undefined, ended: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted) resolve();
    else signal?.addEventListener('abort', () => resolve(), { once: true, signal: ended });
  });
}
