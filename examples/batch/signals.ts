import { constants } from 'node:os';

export type Signal = 'SIGINT' | 'SIGTERM';

/** A signal asked the run to end. */
export class Interrupted extends Error {
  readonly signal: Signal;
  constructor(signal: Signal) {
    super(`stopped by ${signal}`);
    this.signal = signal;
  }
}

/** The exit code that shells report for a process ended by a signal. */
export function exitCodeOf(signal: Signal): number {
  return 128 + constants.signals[signal];
}

/**
 * Calls `onFirst` at the first signal. The second signal ends the process at once, after
 * `beforeExit`.
 * @returns a function that stops listening to signals
 */
export function onSignals(onFirst: (signal: Signal) => void, beforeExit: () => void): () => void {
  let signals = 0;
  const listen = (signal: Signal) => {
    signals += 1;
    if (signals === 1) {
      onFirst(signal);
      return;
    }
    beforeExit();
    process.exit(exitCodeOf(signal));
  };
  process.on('SIGINT', listen).on('SIGTERM', listen);
  return () => {
    process.off('SIGINT', listen).off('SIGTERM', listen);
  };
}
