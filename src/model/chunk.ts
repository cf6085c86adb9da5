import { Sized } from './sized.ts';

/** Why a chunk was closed: full by number, full by bytes, open for too long, end of the source. */
export type ChunkReason = 'items' | 'bytes' | 'delay' | 'complete';

/** Several values that are sent as one request. Never empty. */
export class Chunk<T> extends Sized<T[]> {
  readonly reason: ChunkReason;

  constructor(items: T[], bytes: number, tokens: number, reason: ChunkReason) {
    super(items, bytes, tokens);
    this.reason = reason;
  }
}
