import {
  Observable,
  type ObservableInput,
  type ObservedValueOf,
  type OperatorFunction,
} from 'rxjs';
import { checkFunction, checkKeys } from '../model/check.ts';
import type { Outcome } from '../model/outcome.ts';
import type { Sized } from '../model/sized.ts';
import { followMaxBytes } from './byte-budget.ts';
import { surroundings } from './common-options.ts';
import { followConcurrency } from './concurrency-limit.ts';
import { GATE_KEYS, type GateOptions, gatesOf, sendThrough, setConcurrency } from './gates.ts';
import { checkRequestOptions, Intake, REQUEST_KEYS, type RequestOptions } from './intake.ts';
import { watchGates } from './reading.ts';
import {
  checkResultOptions,
  checkRetryOptions,
  dispatcherOf,
  type Project,
  RESULT_KEYS,
  RETRY_KEYS,
  type ResultOptions,
  type RetryOptions,
  retryPolicyOf,
} from './send-options.ts';

export interface ThrottleOptions<T = unknown>
  extends GateOptions,
    RetryOptions,
    ResultOptions,
    RequestOptions<T> {}

const KEYS = [...GATE_KEYS, ...RETRY_KEYS, ...RESULT_KEYS, ...REQUEST_KEYS] as const;

/**
 * Sends a stream of requests through all gates to an API: `byteEstimate`, `concurrencyLimit`,
 * `byteBudget`, `backoffGate` and `dispatch`, one after the other. With a concurrency alone it
 * behaves as `mergeMap(project, concurrency)` until the API says 429, or tells its limits. From then
 * on it sends as fast as the API accepts (`adaptive`, by default `'rate'`); where `backoff`,
 * `throttledConcurrency` or `throttledByteFactor` is given, or `adaptive: false`, it backs off and
 * goes on slowly instead.
 *
 * The gates belong to the subscription; `createLimiter` shares them between streams.
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
  checkFunction('project', project);
  checkKeys('throttle', options, KEYS);
  checkRetryOptions(options);
  checkResultOptions(options);
  checkRequestOptions(options);
  const around = surroundings(options);
  const openGates = gatesOf(options);
  // What is wrong with the options of attempts is found by making what they are for.
  openGates().attempt.close();
  return (source) =>
    new Observable((out) => {
      const gates = openGates({ isPrioritized: options.priority !== undefined });
      out.add(() => gates.attempt.close());
      out.add(watchGates(around.probe, gates));
      followConcurrency(out, options, (limit) => {
        setConcurrency(limit, gates);
        gates.attempt.changed();
        gates.concurrency.drain();
      });
      followMaxBytes(out, options, gates.byteBudget);
      // A wrong limit may have come at once.
      if (out.closed) return;
      const dispatcher = dispatcherOf(
        project,
        gates.feedback,
        gates.attempt.gate,
        retryPolicyOf(options, gates.attempt.isPaced),
        {
          ...options,
          probe: around.probe,
          readsAnswers: gates.attempt.readsAnswers,
          leastClosureMs: gates.attempt.leastClosureMs,
        },
      );
      const intake = new Intake({ ...around, feedback: gates.feedback }, options);
      sendThrough(source, out, gates, intake, dispatcher, options);
    });
}
