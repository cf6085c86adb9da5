import { checkChoice, checkKeys, show } from '../model/check.ts';
import type { OnClose } from './limiter-runtime.ts';

/** How a limiter, or a group of them, is closed. */
export interface CloseOptions {
  /** What becomes of the requests that wait: they are sent (default), or rejected. */
  readonly waiting?: OnClose;
}

const WAITING = ['send', 'reject'] as const;

/** @throws TypeError that names the option */
export function checkClose(where: string, options: CloseOptions): OnClose {
  checkKeys(where, options, ['waiting']);
  const { waiting = 'send' } = options;
  return checkChoice('waiting', waiting, WAITING);
}

/** Of a pause, or of a queue that is cleared. @throws TypeError */
export function checkReason(reason: unknown): asserts reason is string | undefined {
  if (reason === undefined || typeof reason === 'string') return;
  throw new TypeError(`\`reason\` must be a string, got ${show(reason)}`);
}
