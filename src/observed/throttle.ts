import {
  Observable,
  type ObservableInput,
  type ObservedValueOf,
  type OperatorFunction,
} from 'rxjs';
import type { Outcome } from '../model/outcome.ts';
import type { Sized } from '../model/sized.ts';
import type { Project } from '../operators/send-options.ts';
import {
  type ThrottleOptions as PlainOptions,
  throttle as plainThrottle,
} from '../operators/throttle.ts';
import type { Watched } from '../telemetry/telemetry.ts';
import { split, withTelemetry } from './watched.ts';

export interface ThrottleOptions<T = unknown> extends PlainOptions<T>, Watched {}

/**
 * Sends a stream of requests through all gates to an API: `byteEstimate`, `concurrencyLimit`,
 * `byteBudget`, `backoffGate` and `dispatch`, one after the other. With a concurrency alone it
 * behaves as `mergeMap(project, concurrency)` until the API says 429, or tells its limits. From then
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
export function throttle<T, O extends ObservableInput<unknown>>(
  project: Project<T, O>,
  options: ThrottleOptions<T> & { readonly outcomes: true },
): OperatorFunction<T | Sized<T>, Outcome<T, ObservedValueOf<O>>>;
export function throttle<T, O extends ObservableInput<unknown>>(
  project: Project<T, O>,
  options?: ThrottleOptions<T> & { readonly outcomes?: false },
): OperatorFunction<T | Sized<T>, ObservedValueOf<O>>;
export function throttle<T, O extends ObservableInput<unknown>>(
  project: Project<T, O>,
  options: ThrottleOptions<T>,
): OperatorFunction<T | Sized<T>, ObservedValueOf<O> | Outcome<T, ObservedValueOf<O>>>;
export function throttle<T, O extends ObservableInput<unknown>>(
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
