import { Observable, type ObservedValueOf, type OperatorFunction } from 'rxjs';
import type { Outcome } from '../model/outcome.ts';
import type { Sized } from '../model/sized.ts';
import type { Gate } from '../queue/gate.ts';
import { gaugesOf } from '../request/gate-gauges.ts';
import { followLimit, gateOpener } from '../request/gate-opener.ts';
import { GATE_KEYS, type GateOptions, resolveCommonOptions } from '../request/gate-options.ts';
import {
  checkRequestOptions,
  REQUEST_KEYS,
  type RequestOptions,
} from '../request/request-options.ts';
import { PipelineSubscriber } from '../request/result-subscriber.ts';
import {
  checkResultOptions,
  checkRetryOptions,
  type Emitted,
  type Project,
  type ProjectOutput,
  RESULT_KEYS,
  RETRY_KEYS,
  type ResultOptions,
  type RetryOptions,
} from '../request/send-options.ts';
import { TicketFactory } from '../request/ticket-factory.ts';
import { checkFunction, checkKeys } from '../util/check.ts';
import type { NotInferred } from '../util/not-inferred.ts';

/** Options of `throttle`: all limits, retries, and the form of the results. */
export interface ThrottleOptions<T = unknown>
  extends GateOptions,
    RetryOptions,
    ResultOptions,
    RequestOptions<T> {}

const KEYS = [...GATE_KEYS, ...RETRY_KEYS, ...RESULT_KEYS, ...REQUEST_KEYS] as const;

/**
 * Sends a stream of requests to an API through one gate: a request waits, holding nothing, until
 * the concurrency, the bytes, the backoff and all other policies let it pass together. With only a
 * concurrency it behaves as `mergeMap(project, concurrency)` until the API answers 429 or reports
 * its limits. From then on it sends as fast as the API accepts (`adaptive`, by default `'rate'`).
 * With `backoff`, `throttledConcurrency` or `throttledByteFactor`, or with `adaptive: false`, it
 * backs off and continues slowly instead.
 *
 * The gate belongs to the subscription; `createLimiter` shares one between streams. Metrics and
 * spans go to the SDK that is registered at the time of the subscription.
 *
 * @param project called once per attempt; its `context` has `attempt`, `index` and `signal`, and
 *   `observe` reads an answer that the project does not return
 * @throws RangeError or TypeError that names a wrong option
 * @example
 * prompts$.pipe(throttle((prompt) => client.complete(prompt), { concurrency: 50 })).subscribe(save);
 */
export function throttle<T, O extends ProjectOutput, B extends boolean | undefined = false>(
  project: Project<T, O>,
  options?: ThrottleOptions<NotInferred<T>> & { readonly outcomes?: B },
): OperatorFunction<T | Sized<T>, Emitted<T, O, B>>;
export function throttle<T, O extends ProjectOutput>(
  project: Project<T, O>,
  options: ThrottleOptions<T> = {},
): OperatorFunction<T | Sized<T>, ObservedValueOf<O> | Outcome<T, ObservedValueOf<O>>> {
  return throttleWatched(project, options, () => {});
}

/**
 * As `throttle`.
 * @param waitIn is called with the queue of each subscription, before a request arrives
 */
export function throttleWatched<T, O extends ProjectOutput>(
  project: Project<T, O>,
  options: ThrottleOptions<T>,
  waitIn: (queue: Gate) => void,
): OperatorFunction<T | Sized<T>, ObservedValueOf<O> | Outcome<T, ObservedValueOf<O>>> {
  checkFunction('project', project);
  checkKeys('throttle', options, KEYS);
  checkRetryOptions(options);
  checkResultOptions(options);
  checkRequestOptions(options);
  const common = resolveCommonOptions(options);
  const openGate = gateOpener(options);
  // Open one now, so that wrong options of its policies throw here.
  const trial = openGate(common);
  trial.close();
  if (options.costs === undefined) trial.policies.rateLimit?.checkCharged();
  return (source) =>
    new Observable((out) => {
      const observed = common.withTelemetry();
      const opened = openGate(observed, { isPrioritized: options.priority !== undefined });
      const { gate, feedback } = opened;
      waitIn(gate);
      out.add(() => opened.close());
      opened.watch(() => gaugesOf(opened));
      followLimit(out, options, 'concurrency', (limit) => {
        opened.setConcurrency(limit);
        opened.fleet?.configured();
        opened.changed();
      });
      followLimit(out, options, 'maxBytes', (limit) => {
        opened.bytes.maxBytes = limit;
        opened.fleet?.configured();
        gate.drain();
      });
      // The stream of limits may have emitted a wrong one at once.
      if (out.closed) return;
      const dispatch = opened.dispatchContextOf(project);
      const context = { ...observed, feedback, tap: gate.tap, limits: opened };
      const factory = new TicketFactory(context, options);
      source.subscribe(new PipelineSubscriber(out, { factory, gate, dispatch }, options));
    });
}
