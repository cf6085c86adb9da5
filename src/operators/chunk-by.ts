import { Observable, type OperatorFunction, Subscriber } from 'rxjs';
import type { Instrumentation } from '../model/instrumentation.ts';
import { Chunk, type ChunkReason, Sized } from '../model/sized.ts';
import {
  OBSERVED_KEYS,
  type ObservedOptions,
  type ResolvedOptions,
  resolveCommonOptions,
} from '../request/gate-options.ts';
import { checkInteger, checkKeys, checkNumber } from '../util/check.ts';
import type { Clock, Timer } from '../util/clock.ts';

/** The default of `maxItems`. */
const DEFAULT_MAX_ITEMS = 1024;
/** The default of `maxBytes`. */
const DEFAULT_MAX_CHUNK_BYTES = 5_000_000;

/** Options of `chunkBy`. */
export interface ChunkOptions extends ObservedOptions {
  /** The greatest number of items in a chunk. Default 1024. */
  readonly maxItems?: number;
  /** The greatest number of bytes in a chunk, unless one item alone has more. Default 5,000,000. */
  readonly maxBytes?: number;
  /** How long a chunk may stay open, in ms. Default: until it is full or the source ends. */
  readonly maxDelayMs?: number;
  /** Default: real time. */
  readonly clock?: Clock;
}

const KEYS = ['maxItems', 'maxBytes', 'maxDelayMs', 'clock', ...OBSERVED_KEYS] as const;

/**
 * Groups values into chunks that are sent as one request each. An exact fit stays in; an item over
 * the byte cap forms a chunk alone; no chunk is empty. The end of the source closes the open chunk,
 * an error drops it. Stands between `byteEstimate` and the first gate.
 *
 * @throws RangeError or TypeError that names a wrong option
 * @example
 * data$.pipe(byteEstimate(), chunkBy({ maxItems: 128 }), throttle((batch) => train(batch)))
 */
export function chunkBy<T>(options: ChunkOptions = {}): OperatorFunction<Sized<T>, Chunk<T>> {
  checkKeys('chunkBy', options, KEYS);
  const { maxItems = DEFAULT_MAX_ITEMS, maxBytes = DEFAULT_MAX_CHUNK_BYTES } = options;
  checkInteger('maxItems', maxItems, 1);
  checkInteger('maxBytes', maxBytes, 1);
  if (options.maxDelayMs !== undefined) checkNumber('maxDelayMs', options.maxDelayMs, 0);
  const common = resolveCommonOptions(options);
  return (source) =>
    new Observable((out) => {
      const chunker = new Chunker<T>(maxItems, maxBytes);
      source.subscribe(new Chunking(out, chunker, options.maxDelayMs, common.withTelemetry()));
    });
}

class Chunking<T> extends Subscriber<Sized<T>> {
  private readonly out: Subscriber<Chunk<T>>;
  private readonly chunker: Chunker<T>;
  private readonly maxDelayMs: number | undefined;
  private readonly clock: Clock;
  private readonly instrumentation: Instrumentation | undefined;
  private timer: Timer | undefined;
  private openedAt = 0;
  /** The contexts in which the items of the open chunk arrived. */
  private arounds: unknown[] = [];

  constructor(
    out: Subscriber<Chunk<T>>,
    chunker: Chunker<T>,
    maxDelayMs: number | undefined,
    { clock, instrumentation }: Pick<ResolvedOptions, 'clock' | 'instrumentation'>,
  ) {
    super(out);
    this.out = out;
    this.chunker = chunker;
    this.maxDelayMs = maxDelayMs;
    this.clock = clock;
    this.instrumentation = instrumentation;
    out.add(() => this.timer?.cancel());
  }

  protected override _next(item: Sized<T>): void {
    if (!(item instanceof Sized)) {
      this.out.error(new TypeError('chunkBy takes what byteEstimate emits, before the first gate'));
      return;
    }
    const opens = this.chunker.empty;
    const overflowing = this.chunker.add(item);
    if (opens || overflowing !== undefined) this.startTimer();
    if (overflowing !== undefined) this.emit(overflowing);
    if (this.instrumentation !== undefined)
      this.remember(this.instrumentation, opens || overflowing !== undefined);
    this.emitIfAny(this.chunker.full());
  }

  protected override _complete(): void {
    this.emitIfAny(this.chunker.close('complete'));
    this.out.complete();
  }

  /** Set at the first item of the open chunk. */
  private startTimer(): void {
    if (this.maxDelayMs === undefined) return;
    this.timer?.cancel();
    this.timer = this.clock.setTimer(() => {
      this.emitIfAny(this.chunker.close('delay'));
    }, this.maxDelayMs);
  }

  /** Emits the chunk that was just closed. */
  private emitIfAny(chunk: Chunk<T> | undefined): void {
    if (chunk === undefined) return;
    this.timer?.cancel();
    this.emit(chunk);
  }

  private emit(chunk: Chunk<T>): void {
    if (this.out.closed) return;
    const instrumentation = this.instrumentation;
    if (instrumentation !== undefined) {
      const openMs = this.clock.now() - this.openedAt;
      const closed = { chunk, openMs, arounds: this.arounds };
      this.arounds = [];
      instrumentation.chunkClosed?.(chunk.value.length, chunk.bytes, chunk.reason, closed);
    }
    if (instrumentation?.delivering === undefined) this.out.next(chunk);
    else instrumentation.delivering(chunk, () => this.out.next(chunk));
  }

  private remember(instrumentation: Instrumentation, opens: boolean): void {
    if (opens) this.openedAt = this.clock.now();
    if (instrumentation.around === undefined) return;
    const around = instrumentation.around();
    if (this.arounds.length === 0 || this.arounds.at(-1) !== around) this.arounds.push(around);
  }
}

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
