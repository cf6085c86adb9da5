import { constants } from 'node:os';

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** Calls back for each signal; a third one ends the process. @returns what lets go of them */
export function onSignals(callback: (signal: NodeJS.Signals) => void): () => void {
  let count = 0;
  const listen = (signal: NodeJS.Signals) => {
    count += 1;
    if (count > 2) process.exit(exitCodeOf(signal));
    callback(signal);
  };
  for (const signal of SIGNALS) process.on(signal, listen);
  return () => {
    for (const signal of SIGNALS) process.off(signal, listen);
  };
}

/** What a shell makes of a process that a signal has ended. */
export function exitCodeOf(signal: NodeJS.Signals): number {
  return 128 + constants.signals[signal];
}
