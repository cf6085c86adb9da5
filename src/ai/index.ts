/** Middleware for the Vercel AI SDK. It imports nothing of `ai`: versions 5 to 7 take it. */

export { type PacedMiddleware, type PacedOptions, paced } from './paced.ts';
export type { CallParams, PacedCall, PacedModel, StreamResult } from './shapes.ts';
