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

/** What shells report for a process that a signal ended. */
export function exitCodeOf(signal: Signal): number {
  return 128 + constants.signals[signal];
}

/**
 * The first signal is told to `onFirst`; the second ends the process at once, after `beforeExit`.
 * @returns what lets go of the signals again
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
