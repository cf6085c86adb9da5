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
}

/** Waits for the requests in flight when a run has stopped, and lets workers begin no others. */
export async function drain({ attempts, queue, drainMs, abortSignal }: Draining): Promise<void> {
  const aborted = onAbort(abortSignal);
  queue?.withdraw();
  await Promise.race([attempts.idle(), sleep(drainMs, undefined, { ref: false }), aborted]);
  if (queue === undefined || attempts.active === 0 || abortSignal?.aborted) return;
  await Promise.race([queue.collect(), sleep(COLLECT_MS, undefined, { ref: false }), aborted]);
  // The outcomes of the answers are passed on.
  await setImmediate();
}

/** Resolves when the signal fires; never if there is no signal. */
export function onAbort(signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted) resolve();
    else signal?.addEventListener('abort', () => resolve(), { once: true });
  });
}
