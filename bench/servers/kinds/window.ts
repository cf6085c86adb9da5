/** The limit of all servers that use npm packages. */
import type { WindowLimit } from '../limit.ts';

export const WINDOW: WindowLimit = { kind: 'window', limit: 60, windowMs: 6_000 };

export const WINDOW_TEXT = `${WINDOW.limit} in ${WINDOW.windowMs / 1000} s`;
