import { Chunk, type ChunkReason, type Sized } from '../model/sized.ts';

/** The default of `maxItems`. */
export const DEFAULT_MAX_ITEMS = 1024;
/** The default of `maxBytes`. */
export const DEFAULT_MAX_CHUNK_BYTES = 5_000_000;

/** Fills one chunk after the other. */
export class Chunker<T> {
  private readonly maxItems: number;
  private readonly maxBytes: number;
  private items: T[] = [];
  private bytes = 0;
  private tokens = 0;

  constructor(maxItems: number, maxBytes: number) {
    this.maxItems = maxItems;
    this.maxBytes = maxBytes;
  }

  /** Whether there is no open chunk. */
  get empty(): boolean {
    return this.items.length === 0;
  }

  /** Puts an item into the open chunk. @returns the chunk that was closed for it, if any */
  add(item: Sized<T>): Chunk<T> | undefined {
    const overflows = this.bytes + item.bytes > this.maxBytes;
    const closed = overflows ? this.close('bytes') : undefined;
    this.items.push(item.value);
    this.bytes += item.bytes;
    this.tokens += item.tokens;
    return closed;
  }

  /** The open chunk if it is full, even for an item of size 0. */
  full(): Chunk<T> | undefined {
    if (this.items.length >= this.maxItems) return this.close('items');
    return this.bytes > this.maxBytes ? this.close('bytes') : undefined;
  }

  /** The open chunk, unless it is empty. */
  close(reason: ChunkReason): Chunk<T> | undefined {
    if (this.empty) return undefined;
    const chunk = new Chunk(this.items, this.bytes, this.tokens, reason);
    this.items = [];
    this.bytes = 0;
    this.tokens = 0;
    return chunk;
  }
}
