import { once } from 'node:events';
import type { Inspector } from 'headgate/inspector';
import { codeOf } from '../errors.ts';

const ALIVE_MS = 60_000;

/**
 * Serves the inspector, and prints its address. If its port is in use, it takes any free one.
 * @param tell prints a line
 * @returns closes the inspector
 */
export async function startCommandInspector(
  isAsked: boolean,
  tell: (line: string) => void,
): Promise<() => Promise<void>> {
  if (!isAsked) return async () => {};
  const inspector = await openAnywhere();
  tell(`Where requests wait: ${inspector.url}`);
  return () => inspector.close();
}

/** Keeps the process and its page alive until the signal is aborted. */
export async function holdUntil(signal: AbortSignal, tell: (line: string) => void): Promise<void> {
  if (signal.aborted) return;
  tell('The page stays open until Ctrl-C.');
  // The server of the page does not keep the process alive.
  const alive = setInterval(() => {}, ALIVE_MS);
  await once(signal, 'abort');
  clearInterval(alive);
}

async function openAnywhere(): Promise<Inspector> {
  // Loaded only if needed: it takes about as long as the first request of a run.
  const { startInspector } = await import('headgate/inspector');
  try {
    return await startInspector();
  } catch (error) {
    if (codeOf(error) !== 'EADDRINUSE') throw error;
    return startInspector({ port: 0 });
  }
}
