import { constants } from 'node:os';

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** Calls back for each signal; a third one ends the process. @returns removes the listeners */
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

/** The exit code that a shell gives to a process that a signal has ended. */
export function exitCodeOf(signal: NodeJS.Signals): number {
  return 128 + constants.signals[signal];
}
