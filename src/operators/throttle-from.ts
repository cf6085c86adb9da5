import type { Observable, ObservedValueOf } from 'rxjs';
import type { Outcome } from '../model/outcome.ts';
import type { Sized } from '../model/sized.ts';
import { DEFAULT_CONCURRENCY } from '../policies/concurrency-policy.ts';
import { type PullOptions, pull } from '../request/pull.ts';
import type { PullSource } from '../request/pull-iterator.ts';
import type { Emitted, Project, ProjectOutput } from '../request/send-options.ts';
import { type ThrottleOptions, throttleWatched } from './throttle.ts';

/** Options of `throttleFrom`. */
export interface ThrottleFromOptions<T = unknown> extends ThrottleOptions<T>, PullOptions {}

/**
 * Sends requests as `throttle` does, and reads them from a source only as others end: for a file of
 * five million lines, a few hundred are in memory at a time.
 *
 * An error of the source errors the stream at once. An unsubscription or an error of the stream
 * calls the source's `return()` (`cancel()` for a ReadableStream) once.
 *
 * @param source an iterable, async iterable or ReadableStream, of values or of values with sizes
 * @param project as for `throttle`: called once per attempt
 * @throws RangeError or TypeError that names a wrong option
 * @example
 * throttleFrom(handle.readLines(), (line) => client.complete(line), { outcomes: true }).subscribe(save);
 */
export function throttleFrom<T, O extends ProjectOutput, B extends boolean | undefined = false>(
  source: PullSource<T | Sized<T>>,
  project: Project<T, O>,
  options?: ThrottleFromOptions<T> & { readonly outcomes?: B },
): Observable<Emitted<T, O, B>>;
export function throttleFrom<T, O extends ProjectOutput>(
  source: PullSource<T | Sized<T>>,
  project: Project<T, O>,
  options: ThrottleFromOptions<T> = {},
): Observable<ObservedValueOf<O> | Outcome<T, ObservedValueOf<O>>> {
  const { concurrency = DEFAULT_CONCURRENCY } = options;
  const most = typeof concurrency === 'number' ? concurrency : Number.POSITIVE_INFINITY;
  return pull(source, project, options, most, throttleWatched);
}
