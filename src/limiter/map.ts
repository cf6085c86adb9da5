import { Observable, type OperatorFunction } from 'rxjs';
import type { AttemptContext } from '../request/attempt-context.ts';
import { pull } from '../request/pull.ts';
import type { PullSource } from '../request/pull-iterator.ts';
import { REQUEST_KEYS, type RequestOptions } from '../request/request-options.ts';
import { checkFunction, checkKeys } from '../util/check.ts';
import { checkSignal } from './acquire-options.ts';

/** Sends one value of `limiter.map`. Called for each attempt. */
export type MapTask<T, R> = (value: T, context: AttemptContext) => R | PromiseLike<R>;

/** Options of `limiter.map`. */
export interface MapOptions<T> extends RequestOptions<T> {
  /** Whether requests that fail are results, too: each is an `Outcome` then. Default false. */
  readonly outcomes?: boolean;
  /**
   * Its abort ends the reading, and abandons all waiting and running requests. Default: no signal.
   */
  readonly signal?: AbortSignal;
}

/** Options of `group.map`. */
export interface GroupMapOptions<T> extends MapOptions<T> {
  /**
   * The greatest number of values that are read and wait for the limits of their keys, an integer
   * >= 1. If all of them wait for one key, the other keys wait too. Default 100.
   */
  readonly readAhead?: number;
}

/** The default number of values that are read ahead for the keys of a group. */
export const DEFAULT_GROUP_READ_AHEAD = 100;

type MapOperator<T> = (
  project: (value: T, context: AttemptContext) => Promise<unknown>,
  options: MapOptions<T> & { readonly ordered: boolean },
) => OperatorFunction<T, unknown>;

/**
 * Sends a request for each value of a source, and collects the results in its order.
 * @param name of the method, for errors
 * @param throttle makes the operator that sends
 * @throws RangeError or TypeError that names a wrong option
 */
export function mapThrough<T, R>(
  name: string,
  source: PullSource<T>,
  fn: MapTask<T, R>,
  options: GroupMapOptions<T>,
  throttle: MapOperator<T>,
  readAhead = 1,
): Promise<unknown[]> {
  checkFunction('fn', fn);
  checkKeys(name, options, ['outcomes', 'signal', ...REQUEST_KEYS]);
  const { signal, ...plain } = options;
  checkSignal(signal);
  const project = async (value: T, context: AttemptContext): Promise<Awaited<R>> =>
    await fn(value, context);
  const pulled = { ...plain, ordered: true, readAhead };
  const results = pull(source, project, pulled, Number.POSITIVE_INFINITY, throttle, 'sent');
  return collect(results, signal);
}

/** Collects all values of an Observable. An abort unsubscribes, and rejects with the reason. */
function collect<R>(results: Observable<R>, signal: AbortSignal | undefined): Promise<R[]> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) {
      reject(signal.reason);
      return;
    }
    const all: R[] = [];
    const ended = signal === undefined ? results : untilAborted(results, signal);
    ended.subscribe({
      next: (result) => all.push(result),
      error: reject,
      complete: () => resolve(all),
    });
  });
}

/** Listens first: the source or a task may abort while the first values are sent. */
function untilAborted<R>(results: Observable<R>, signal: AbortSignal): Observable<R> {
  return new Observable((out) => {
    const abort = () => out.error(signal.reason);
    signal.addEventListener('abort', abort, { once: true });
    out.add(() => signal.removeEventListener('abort', abort));
    results.subscribe(out);
  });
}
