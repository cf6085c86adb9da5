import { gatedStream } from './gated-stream.ts';

export const { run, fill, prove } = gatedStream('gate-all');
