import { once } from 'node:events';
import type { Inspector } from 'headgate/inspector';
import { codeOf } from '../errors.ts';

const ALIVE_MS = 60_000;

/**
 * Serves the inspector, and says where. Where its port is taken, as by another run, any other will do.
 * @param tell prints a line
 * @returns ends it
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

/** Keeps the process, and so its page, until the signal is aborted. */
export async function holdUntil(signal: AbortSignal, tell: (line: string) => void): Promise<void> {
  if (signal.aborted) return;
  tell('The page stays open until Ctrl-C.');
  // The server of the page keeps no process alive.
  const alive = setInterval(() => {}, ALIVE_MS);
  await once(signal, 'abort');
  clearInterval(alive);
}

async function openAnywhere(): Promise<Inspector> {
  // Loaded here: most runs have no page, and it takes as long to load as their first request.
  const { startInspector } = await import('headgate/inspector');
  try {
    return await startInspector();
  } catch (error) {
    if (codeOf(error) !== 'EADDRINUSE') throw error;
    return startInspector({ port: 0 });
  }
}
