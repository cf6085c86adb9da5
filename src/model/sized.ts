import { checkAmount } from '../util/check.ts';

/**
 * A value with its size. `byteEstimate` emits such values, and `chunkBy` groups them. The first
 * gate that a sized value meets makes it a ticket.
 */
export class Sized<T> {
  /** Makes the class nominal: a ticket has a value and a size too, but must not be chunked. */
  declare private readonly kind: 'sized';
  readonly value: T;
  /** Bytes that the value is charged as; a whole number >= 0. */
  readonly bytes: number;
  /** Tokens that the value is charged as; a whole number >= 0. */
  readonly tokens: number;

  /**
   * @param value the request itself
   * @param bytes its size; fractions are rounded up
   * @param tokens its tokens; fractions are rounded up. Default: `bytes / 4`
   * @throws RangeError or TypeError for a size that is negative, NaN, infinite or no number
   */
  constructor(value: T, bytes: number, tokens: number = bytes / BYTES_PER_TOKEN) {
    this.value = value;
    this.bytes = checkAmount('bytes', bytes);
    this.tokens = checkAmount('tokens', tokens);
  }
}

/** Whether any value is a `Sized`. `instanceof` throws for a revoked Proxy. */
export function isSized<T>(item: T | Sized<T>): item is Sized<T> {
  try {
    return item instanceof Sized;
  } catch {
    return false;
  }
}

/** The usual rule of thumb for English text in the vocabularies of current models. */
export const BYTES_PER_TOKEN = 4;

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

/**
 * The basis of the estimate of a request's size; `custom`: the user's estimator returned the size.
 */
export type SizedKind =
  | 'text'
  | 'binary'
  | 'image'
  | 'tokens'
  | 'tensor'
  | 'chat'
  | 'json'
  | 'custom';
