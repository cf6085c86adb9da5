import { type Inspector, startInspector } from 'headgate/inspector';
import { codeOf } from '../errors.ts';

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

async function openAnywhere(): Promise<Inspector> {
  try {
    return await startInspector();
  } catch (error) {
    if (codeOf(error) !== 'EADDRINUSE') throw error;
    return startInspector({ port: 0 });
  }
}
