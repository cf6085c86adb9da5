/** Middleware for the Vercel AI SDK. It imports nothing of `ai`: versions 5 to 7 take it. */

export type { CallParams, PacedCall, PacedModel, StreamResult } from './paced.ts';
export { type PacedMiddleware, type PacedOptions, paced } from './paced.ts';
