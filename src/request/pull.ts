import { Observable, type ObservableInput, type OperatorFunction, Subject, tap } from 'rxjs';
import { checkInteger, wrongType } from '../util/check.ts';
import { resultsOf } from './project-results.ts';
import { PullIterator, type PullSource } from './pull-iterator.ts';
import type { Project, ResultOptions } from './send-options.ts';

/** How far ahead requests are read from a source. */
export interface PullOptions {
  /**
   * How many requests may be unfinished, in flight or waiting, before reading stops: an integer >=
   * 1. Default: twice the concurrency, but at most 1,000 more than it; 1,000 if the concurrency is
   * not a number, and in a group. Reading also stops while `maxQueue` requests wait, except in a
   * group, where each key has a queue.
   */
  readonly readAhead?: number;
}

/** The queue in which the requests of a source wait. */
export interface QueueRoom {
  /** Whether one more request may wait. */
  readonly hasRoom: boolean;
  /** The error of each request that arrives from now on, if there is one. */
  readonly closed?: Error | undefined;
}

/** A queue without a bound, or that is not known yet. */
const ROOM: QueueRoom = { hasRoom: true };

/** More waiting requests than this do not make a run faster. */
const MOST_WAITING = 1_000;

/** @throws RangeError or TypeError that names a wrong argument */
function checkPull(source: unknown, { readAhead }: PullOptions): void {
  const isSource =
    typeof source === 'object' &&
    source !== null &&
    (Symbol.asyncIterator in source || Symbol.iterator in source || 'getReader' in source);
  if (!isSource) {
    wrongType('source', 'an iterable, an async iterable or a ReadableStream', source);
  }
  if (readAhead !== undefined) checkInteger('readAhead', readAhead, 1);
}

/**
 * Sends the requests of a source. The source is read only as requests end, and only while the
 * queue has room: what waits in the source need not be refused.
 * @param operatorOf makes the operator that sends them. Its project is called for each attempt; it
 *   calls `waitIn` with the queue of a subscription before a request arrives, if it has only one
 * @param concurrency how many may be in flight, for the default of `readAhead`
 * @param until how long a request counts as read ahead. `sent`: its project must not throw
 * @throws RangeError or TypeError that names a wrong argument, as `operatorOf` does
 */
export function pull<
  T,
  V,
  O extends ObservableInput<unknown>,
  P extends ResultOptions & PullOptions,
  R,
>(
  source: PullSource<T>,
  project: Project<V, O>,
  options: P,
  concurrency: number,
  operatorOf: (
    project: Project<V, O>,
    options: Omit<P, 'readAhead'>,
    waitIn: (queue: QueueRoom) => void,
  ) => OperatorFunction<T, R>,
  until: 'sent' | 'ended' = 'ended',
): Observable<R> {
  checkPull(source, options);
  const { readAhead = readAheadOf(concurrency), ...plain } = options;
  const { outcomes = false, ordered = false } = options;
  // Construct once, so that wrong options throw here.
  operatorOf(project, plain, () => {});
  return new Observable<R>((out) => {
    const feed = new Subject<T>();
    const isSentEnough = until === 'sent';
    const unfinished = new UnfinishedRequests(ordered && !isSentEnough);
    let queue = ROOM;
    /** Whether the source would be read if the queue had room. */
    let isHeldBack = false;
    const iterator = new PullIterator(source, feed, () => {
      const isAhead = unfinished.count >= readAhead;
      // If requests of others fill the queue, nothing here tells when it has room again.
      isHeldBack = !isAhead && unfinished.count > 0 && !queue.hasRoom;
      return !isAhead && !isHeldBack;
    });
    const requests = feed.pipe(tap(() => unfinished.arrived()));
    // With outcomes, a request ends with exactly one value, and it does not matter which one ended.
    // Without outcomes, a failure ends the stream, and a successful request may emit any number of
    // values, so its own end has to be watched.
    const attempt: Project<V, O> =
      outcomes || isSentEnough
        ? project
        : (value, context) => {
            unfinished.startedAgain(context.index);
            return watchEnd(project(value, context), () => {
              // The request is sent again, or has failed: the end of this attempt does not count.
              if (context.isAbandoned) return;
              unfinished.ended(context.index);
              iterator.run();
            });
          };
    const watched: Project<V, O> = (value, context) => {
      iterator.sent();
      const result = attempt(value, context);
      // It has left the queue.
      if (isSentEnough) unfinished.ended(context.index);
      if (isSentEnough || isHeldBack) iterator.run();
      return result;
    };
    /** Why the source was not read to its end. */
    let cut: Error | undefined;
    const readOn = () => {
      // A stream without outcomes ends with the first request that fails.
      if (!outcomes || queue.closed === undefined || cut !== undefined) {
        iterator.run();
        return;
      }
      // Else an endless source would be read in a loop that nothing interrupts.
      cut = queue.closed;
      iterator.close();
      feed.complete();
    };
    let emitted = 0;
    out.add(() => iterator.close());
    out.add(
      operatorOf(watched, plain, (opened) => {
        queue = opened;
      })(requests).subscribe({
        next: (result) => {
          try {
            out.next(result);
          } catch (thrown) {
            // A Subscriber downstream has thrown it.
            out.error(thrown);
          }
          if (!outcomes) return;
          unfinished.ended(emitted++);
          readOn();
        },
        error: (error: unknown) => out.error(error),
        complete: () => {
          if (cut === undefined) out.complete();
          else out.error(cut);
        },
      }),
    );
    readOn();
  });
}

/** All slots, and enough that wait to fill a free one at once. */
function readAheadOf(concurrency: number): number {
  const inFlight = Number.isFinite(concurrency) ? concurrency : 0;
  return inFlight + Math.min(concurrency, MOST_WAITING);
}

/** Returns the same result, with a callback for its success. */
function watchEnd<O extends ObservableInput<unknown>>(result: O, onEnd: () => void): O {
  if (result instanceof Promise) {
    // The caller waits for the promise itself, which is faster than an Observable.
    result.then(onEnd, () => {});
    return result;
  }
  const watched: ObservableInput<unknown> = resultsOf(result).pipe(tap({ complete: onEnd }));
  // It emits the values of an O, which TypeScript cannot derive for a generic O.
  return watched as O;
}

/** Counts the unfinished requests of one stream, by index. */
class UnfinishedRequests {
  private readonly isOrdered: boolean;
  private arrivals = 0;
  /** In the order of the indices, which is the order of arrival. */
  private indices = new Set<number>();

  /**
   * @param isOrdered whether an ended request counts until all before it have ended: its result
   * waits
   */
  constructor(isOrdered: boolean) {
    this.isOrdered = isOrdered;
  }

  get count(): number {
    if (!this.isOrdered) return this.indices.size;
    for (const first of this.indices) return this.arrivals - first;
    return 0;
  }

  arrived(): void {
    this.indices.add(this.arrivals);
    this.arrivals += 1;
  }

  ended(index: number): void {
    this.indices.delete(index);
  }

  /** An attempt may succeed with a `Response` that is not ok, and the request is sent again. */
  startedAgain(index: number): void {
    if (this.indices.has(index)) return;
    this.indices = new Set([...this.indices, index].sort((a, b) => a - b));
  }
}
