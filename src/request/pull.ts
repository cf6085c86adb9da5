import { from, Observable, type ObservableInput, type OperatorFunction, Subject, tap } from 'rxjs';
import { checkInteger, show } from '../model/check.ts';
import { PullIterator, type PullSource } from './pull-iterator.ts';
import type { Project, ResultOptions } from './send-options.ts';

export interface PullOptions {
  /**
   * Requests that may be unfinished, those in flight included, before the source is asked for more:
   * an integer >= 1. Default: twice the concurrency, at most 1,000.
   */
  readonly readAhead?: number;
}

/** To read further ahead does not make a run faster. */
const MOST_READ_AHEAD = 1_000;

/** Enough that a slot that comes free is filled at once. */
export function defaultReadAhead(concurrency: number): number {
  return Math.min(2 * concurrency, MOST_READ_AHEAD);
}

/** @throws RangeError or TypeError that names a wrong argument */
export function checkPull(source: unknown, { readAhead }: PullOptions): void {
  const isSource =
    typeof source === 'object' &&
    source !== null &&
    (Symbol.asyncIterator in source || Symbol.iterator in source || 'getReader' in source);
  if (!isSource) {
    throw new TypeError(
      `\`source\` must be an iterable, an async iterable or a ReadableStream, got ${show(source)}`,
    );
  }
  if (readAhead !== undefined) checkInteger('readAhead', readAhead, 1);
}

/** What a pulled stream needs beside its source. */
export interface Pull<T, V, O extends ObservableInput<unknown>, R> extends ResultOptions {
  readonly project: Project<V, O>;
  /** Makes the operator that sends the requests; what it is given is called for each attempt. */
  readonly operatorOf: (project: Project<V, O>) => OperatorFunction<T, R>;
  readonly readAhead: number;
}

/** Sends the requests of a source, which is read only as requests end. */
export function pull<T, V, O extends ObservableInput<unknown>, R>(
  source: PullSource<T>,
  { project, operatorOf, readAhead, outcomes = false, ordered = false }: Pull<T, V, O, R>,
): Observable<R> {
  return new Observable<R>((out) => {
    const feed = new Subject<T>();
    const unfinished = new UnfinishedRequests(ordered && !outcomes);
    const iterator = new PullIterator(source, feed, () => unfinished.count < readAhead);
    const requests = feed.pipe(tap(() => unfinished.arrived()));
    // With outcomes, a request ends with exactly one value, and which one ended does not matter.
    // Without, one that fails ends the stream, and one that goes well may emit any number of values:
    // its own end has to be watched.
    const watched: Project<V, O> = outcomes
      ? project
      : (value, context) => {
          unfinished.startedAgain(context.index);
          return watchEnd(project(value, context), () => {
            unfinished.ended(context.index);
            iterator.run();
          });
        };
    let emitted = 0;
    out.add(() => iterator.close());
    out.add(
      operatorOf(watched)(requests).subscribe({
        next: (result) => {
          out.next(result);
          if (!outcomes) return;
          unfinished.ended(emitted++);
          iterator.run();
        },
        error: (error: unknown) => out.error(error),
        complete: () => out.complete(),
      }),
    );
    iterator.run();
  });
}

/** The same result, and a call when it has ended well. */
function watchEnd<O extends ObservableInput<unknown>>(result: O, onEnd: () => void): O {
  if (result instanceof Promise) {
    // The caller waits for a promise itself, which is faster than an Observable of it.
    result.then(onEnd, () => {});
    return result;
  }
  const watched: ObservableInput<unknown> = from(result).pipe(tap({ complete: onEnd }));
  // It emits what an O does, which TypeScript cannot see of a generic O.
  return watched as O;
}

/** Counts the requests of one stream that have come and not ended, by their index. */
class UnfinishedRequests {
  private readonly isOrdered: boolean;
  private arrivals = 0;
  /** In the order of their indices, which is that of their arrival. */
  private indices = new Set<number>();

  /** @param isOrdered whether one that has ended counts until all before it have: its result waits */
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

  /** An attempt may end well with a `Response` that says no, and the request is sent again. */
  startedAgain(index: number): void {
    if (this.indices.has(index)) return;
    this.indices = new Set([...this.indices, index].sort((a, b) => a - b));
  }
}
