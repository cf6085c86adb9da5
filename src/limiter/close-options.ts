import { checkChoice, checkKeys, show } from '../util/check.ts';
import type { OnClose } from './limiter-runtime.ts';

/** How a limiter, or a group of them, is closed. */
export interface CloseOptions {
  /** Whether waiting requests are sent (default) or rejected. */
  readonly waiting?: OnClose;
}

const WAITING = ['send', 'reject'] as const;

/** @throws TypeError that names the option */
export function checkClose(where: string, options: CloseOptions): OnClose {
  checkKeys(where, options, ['waiting']);
  const { waiting = 'send' } = options;
  return checkChoice('waiting', waiting, WAITING);
}

/** Checks the reason of a pause, or of clearing a queue. @throws TypeError */
export function checkReason(reason: unknown): asserts reason is string | undefined {
  if (reason === undefined || typeof reason === 'string') return;
  throw new TypeError(`\`reason\` must be a string, got ${show(reason)}`);
}
