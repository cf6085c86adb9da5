import { Observable, type ObservedValueOf, type OperatorFunction } from 'rxjs';
import type { Outcome } from '../model/outcome.ts';
import type { Sized } from '../model/sized.ts';
import {
  type ThrottleOptions as PlainOptions,
  throttle as plainThrottle,
} from '../operators/throttle.ts';
import type { Emitted, Project, ProjectOutput } from '../request/send-options.ts';
import type { Watched } from '../telemetry/telemetry.ts';
import { split, withTelemetry } from './watched.ts';

export interface ThrottleOptions<T = unknown> extends PlainOptions<T>, Watched {}

/**
 * Sends a stream of requests to an API through one gate: a request waits, holding nothing, until the
 * concurrency, the bytes, the backoff and what else is on let it go together. With a concurrency alone
 * it behaves as `mergeMap(project, concurrency)` until the API says 429, or tells its limits. From then
 * on it sends as fast as the API accepts (`adaptive`, by default `'rate'`); where `backoff`,
 * `throttledConcurrency` or `throttledByteFactor` is given, or `adaptive: false`, it backs off and
 * goes on slowly instead.
 *
 * The gates belong to the subscription; `createLimiter` shares them between streams. So do its
 * metrics and spans: they go to the SDK that is registered when it is subscribed to.
 *
 * @param project called once an attempt; its `context` has `attempt`, `index` and `signal`, and `observe`
 *   reads what an answer says that the project does not return
 * @throws RangeError or TypeError that names a wrong option
 * @example
 * prompts$.pipe(throttle((prompt) => client.complete(prompt), { concurrency: 50 })).subscribe(save);
 */
export function throttle<T, O extends ProjectOutput, B extends boolean = false>(
  project: Project<T, O>,
  options?: ThrottleOptions<T> & { readonly outcomes?: B },
): OperatorFunction<T | Sized<T>, Emitted<T, O, B>>;
export function throttle<T, O extends ProjectOutput>(
  project: Project<T, O>,
  options: ThrottleOptions<T> = {},
): OperatorFunction<T | Sized<T>, ObservedValueOf<O> | Outcome<T, ObservedValueOf<O>>> {
  const { watched, plain } = split(options);
  const unwatched = plainThrottle(project, plain);
  return (source) =>
    new Observable((out) => {
      const options = withTelemetry(plain, watched);
      const results = options === plain ? unwatched : plainThrottle(project, options);
      results(source).subscribe(out);
    });
}
