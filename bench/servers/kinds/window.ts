/** The limit that all limiters of npm packages are given here. */
import type { WindowLimit } from '../limit.ts';

export const WINDOW: WindowLimit = { kind: 'window', limit: 60, windowMs: 6_000 };

export const WINDOW_TEXT = `${WINDOW.limit} in ${WINDOW.windowMs / 1000} s`;
