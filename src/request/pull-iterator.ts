import type { Observer } from 'rxjs';
import { activeContext, runIn } from '../telemetry/context-propagator.ts';

/** The part of a reader of a web `ReadableStream` that is used. */
export interface StreamReaderLike<T> {
  read(): Promise<{ readonly done: boolean; readonly value?: T | undefined }>;
  cancel(reason?: unknown): Promise<unknown>;
}

/**
 * The part of a web `ReadableStream` that is read.
 *
 * TypeScript infers T from pairs of overloads, of which the last are compared. `ReadableStream` of
 * the DOM ends with `getReader()` and `getReader(options?)`; with one overload here, T would come
 * from the second, which may return a reader of bytes.
 */
export interface ReadableStreamLike<T> {
  getReader(): StreamReaderLike<T>;
  getReader(options?: { readonly mode?: undefined }): StreamReaderLike<T>;
}

/** A source whose values are requested one after the other; a text is none. */
export type PullSource<T> = object & (Iterable<T> | AsyncIterable<T> | ReadableStreamLike<T>);

/** Reads a source of any kind. */
interface Reader<T> {
  next(): IteratorResult<T, unknown> | PromiseLike<IteratorResult<T, unknown>>;
  return?(): unknown;
}

/**
 * After this many values of which none was sent, the event loop runs its timers and signals. Else
 * requests that fail at once, as at a closed limiter, would keep an endless source busy for ever.
 */
const MOST_UNSENT = 1_000;

/** Emits the values of a source, one at a time, while more are wanted. */
export class PullIterator<T> {
  private readonly reader: Reader<T>;
  private readonly out: Observer<T>;
  private readonly wantsMore: () => boolean;
  /**
   * The context of the subscription, in which the source is read. `run` is called in the context of
   * another request, of which the values read must not be a part.
   */
  private readonly around = activeContext();
  /**
   * `reading`: a value was requested and has not arrived. `resting`: the event loop comes first.
   * `closed`: no more are requested.
   */
  private state: 'idle' | 'reading' | 'resting' | 'closed' = 'idle';
  /** The values since the last one that was sent. */
  private unsent = 0;
  /** Whether the source runs now: a generator that runs cannot be closed. */
  private isCalling = false;

  /**
   * @param out ignores what comes after `close`, as the stopped read may still bring a value
   * @param wantsMore called before each value
   */
  constructor(source: PullSource<T>, out: Observer<T>, wantsMore: () => boolean) {
    this.reader = readerOf(source);
    this.out = out;
    this.wantsMore = wantsMore;
  }

  /** Reads on. */
  run(): void {
    runIn(this.around, () => this.read());
  }

  /** A value was sent. */
  sent(): void {
    this.unsent = 0;
  }

  /** Reads in a loop: an emitted value may end at once and want the next one. */
  private read(): void {
    while (this.state === 'idle' && this.wantsMore()) {
      if (this.unsent === MOST_UNSENT) {
        this.rest();
        return;
      }
      this.unsent += 1;
      this.state = 'reading';
      let answer: ReturnType<Reader<T>['next']>;
      this.isCalling = true;
      try {
        answer = this.reader.next();
      } catch (error) {
        this.fail(error);
        return;
      } finally {
        this.isCalling = false;
      }
      // Its own code has closed it while it ran.
      if (this.isClosed) this.end(answer);
      if (isPromiseLike(answer)) {
        answer.then(
          (result) => {
            this.take(result);
            this.read();
          },
          (error: unknown) => this.fail(error),
        );
      } else this.take(answer);
    }
  }

  /** Reads on when the event loop has had its turn. */
  private rest(): void {
    this.state = 'resting';
    this.unsent = 0;
    // A browser has no `setImmediate`.
    const later = globalThis.setImmediate ?? setTimeout;
    later(() => {
      if (this.state !== 'resting') return;
      this.state = 'idle';
      this.run();
    });
  }

  /** Closes the source, once, unless it has ended by itself. */
  close(): void {
    if (this.state === 'closed') return;
    this.state = 'closed';
    if (!this.isCalling) this.end();
  }

  private get isClosed(): boolean {
    return this.state === 'closed';
  }

  /** Closes the source. @param last its last answer; nothing is closed if that says it has ended */
  private end(last?: ReturnType<Reader<T>['next']>): void {
    // No subscriber is left that could get an error.
    try {
      if (last !== undefined && 'done' in last && last.done) return;
      Promise.resolve(this.reader.return?.()).catch(() => {});
    } catch {}
  }

  private take(result: IteratorResult<T, unknown>): void {
    let isDone: boolean | undefined;
    let value: unknown;
    // The result may have getters, which may throw.
    try {
      if (typeof result !== 'object' || result === null) {
        throw new TypeError(`the source's iterator must return objects, got ${String(result)}`);
      }
      isDone = result.done;
      if (!isDone) value = result.value;
    } catch (error) {
      this.fail(error);
      return;
    }
    if (isDone) {
      this.state = 'closed';
      this.out.complete();
    } else {
      // The emitted value may end its request at once and call `run`, which must not read inside
      // this call.
      this.out.next(value as T);
      if (this.state === 'reading') this.state = 'idle';
    }
  }

  private fail(error: unknown): void {
    this.state = 'closed';
    this.out.error(error);
  }
}

function readerOf<T>(source: PullSource<T>): Reader<T> {
  if (Symbol.asyncIterator in source) return source[Symbol.asyncIterator]();
  if (Symbol.iterator in source) return source[Symbol.iterator]();
  const reader = source.getReader();
  return {
    next: async () => {
      const { done, value } = await reader.read();
      // A reader that is not done has a value.
      return done ? { done: true, value: undefined } : { done: false, value: value as T };
    },
    return: () => reader.cancel(),
  };
}

function isPromiseLike<V>(value: V | PromiseLike<V>): value is PromiseLike<V> {
  return (
    typeof value === 'object' &&
    value !== null &&
    'then' in value &&
    typeof value.then === 'function'
  );
}
