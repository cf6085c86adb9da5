import { Observable, type ObservedValueOf, type OperatorFunction } from 'rxjs';
import type { LimiterEvent } from '../model/limiter-event.ts';
import type { Outcome, ResultOrOutcome } from '../model/outcome.ts';
import type { Sized } from '../model/sized.ts';
import type { FeedbackSubject } from '../request/feedback-subject.ts';
import { type PullOptions, pull } from '../request/pull.ts';
import type { PullSource } from '../request/pull-iterator.ts';
import { checkPriority } from '../request/request-options.ts';
import { PipelineSubscriber } from '../request/result-subscriber.ts';
import type { Emitted, Project, ProjectOutput } from '../request/send-options.ts';
import { checkFunction, checkOwner } from '../util/check.ts';
import type { NotInferred } from '../util/not-inferred.ts';
import { type AcquireOptions, checkAcquireOptions, checkFetchOptions } from './acquire-options.ts';
import { Calls, type Task } from './calls.ts';
import type { Changes } from './changes.ts';
import { Circuit } from './circuit.ts';
import { configure } from './configure.ts';
import { type Fetch, type FetchOptionsOf, pacedFetch } from './fetch.ts';
import type { Lease } from './lease.ts';
import { Leases } from './leases.ts';
import { type CloseOptions, checkClose, checkReason } from './lifecycle.ts';
import {
  checkLimiterOptions,
  checkThrottle,
  type LimiterOptions,
  type LimiterThrottleOptions,
} from './limiter-options.ts';
import { type GroupSide, LimiterRuntime } from './limiter-runtime.ts';
import { type MapOptions, type MapTask, mapThrough } from './map.ts';
import { OutsideRequests, type RecordedSuccess } from './outside-requests.ts';
import type { LimiterProgress } from './request-counters.ts';
import { addToQuota } from './set-limits.ts';
import type { LimiterSnapshot, LimiterState } from './snapshot.ts';

/**
 * Makes one gate for all users of one API key: streams and promises wait in the same queue, by
 * priority, then retries, then arrival.
 *
 * From the first 429, or the first reported limit on, it sends as fast as the API accepts
 * (`adaptive`, by default `'rate'`). With `backoff`, `throttledConcurrency` or
 * `throttledByteFactor`, or with `adaptive: false`, it backs off and continues slowly instead.
 *
 * @throws RangeError or TypeError that names a wrong option
 * @example
 * const limiter = createLimiter({ concurrency: 50, requestsPerMinute: 10_000 });
 * prompts$.pipe(limiter.throttle((prompt) => client.complete(prompt))).subscribe(save);
 * const answer = await limiter.run(() => client.complete('ready?'), { priority: 1 });
 */
export function createLimiter(options: LimiterOptions = {}): Limiter {
  checkLimiterOptions(options);
  return new Limiter(options);
}

/** One gate, shared by streams and promises. Made by {@link createLimiter}. */
export class Limiter {
  /** The feedback of the API's answers, with the backoff and the mode. */
  readonly feedback: FeedbackSubject;
  /** The circuit breaker; undefined if none is on. */
  readonly circuit: Circuit | undefined;
  readonly #runtime: LimiterRuntime;
  readonly #calls: Calls;
  readonly #leases: Leases;
  readonly #outside: OutsideRequests;
  #fetch: Fetch | undefined = undefined;

  /**
   * @internal
   * @param group the parts that the limiter shares with others of a group
   */
  constructor(options: LimiterOptions, group?: GroupSide) {
    this.#runtime = new LimiterRuntime(options, group);
    const { gate } = this.#runtime;
    this.feedback = gate.feedback;
    const { circuitBreaker } = gate.policies;
    this.circuit = circuitBreaker && new Circuit(circuitBreaker, gate);
    this.#calls = new Calls(this.#runtime);
    this.#leases = new Leases(this.#calls);
    this.#outside = new OutsideRequests(this.#runtime, this.#calls.pipeline.dispatch.classify);
  }

  /**
   * The events of the limiter, each with its log level. Changes of the mode are reported while
   * there are subscribers. A listener that throws affects no request; RxJS reports its error.
   * Completes when the limiter is closed and drained, as the other streams do.
   */
  get events$(): Observable<LimiterEvent> {
    return this.#runtime.events$;
  }

  /** The state now, then each change. */
  get state$(): Observable<LimiterState> {
    return this.#runtime.lifecycle.state$;
  }

  /**
   * The progress of all requests: now, then at each milestone, and otherwise as requests end, at
   * most once a second. Requests that ended before the first subscription count, but not for the
   * mean duration.
   */
  get progress$(): Observable<LimiterProgress> {
    return this.#runtime.progress$;
  }

  /**
   * A `fetch` for an SDK. Each call is a request as in `run`; the size of its `body` is its size. A
   * response that is ok holds its slot until its body has arrived, was cancelled, was aborted by
   * the call's signal, or failed; one without a body, or that is not ok, until its head has
   * arrived. Up to 256 KiB are read ahead. A longer body that is not read for 30 s gives up its
   * slot. The used tokens are read in bodies of JSON, and in events of streams, of up to 1 MiB each.
   */
  get fetch(): Fetch {
    this.#fetch ??= pacedFetch(this.#calls);
    return this.#fetch;
  }

  /**
   * A `fetch` as {@link Limiter.fetch}, whose calls have options as those of `run` have. The signal
   * is that of each call; a `timeoutMs` ends with the head of the response.
   * @param options the options of each call, or a function that returns them, or undefined, for the
   * arguments of `fetch`; the call rejects with an error of that function
   * @throws RangeError or TypeError that names a wrong option
   * @example
   * const urgent = new OpenAI({ fetch: limiter.fetchWith({ priority: 1 }), maxRetries: 0 });
   */
  fetchWith(options: FetchOptionsOf): Fetch {
    checkOwner(this, Limiter, 'limiter.fetchWith');
    if (typeof options !== 'function') checkFetchOptions(options);
    return pacedFetch(this.#calls, options);
  }

  /**
   * As the operator `throttle`, through this limiter's gate.
   * @throws TypeError that names a wrong option
   */
  throttle<T, O extends ProjectOutput, B extends boolean | undefined = false>(
    project: Project<T, O>,
    options?: LimiterThrottleOptions<NotInferred<T>> & { readonly outcomes?: B },
  ): OperatorFunction<T | Sized<T>, Emitted<T, O, B>>;
  throttle<T, O extends ProjectOutput>(
    project: Project<T, O>,
    options: LimiterThrottleOptions<T> = {},
  ): OperatorFunction<T | Sized<T>, ObservedValueOf<O> | Outcome<T, ObservedValueOf<O>>> {
    checkOwner(this, Limiter, 'limiter.throttle');
    checkThrottle('limiter.throttle', project, options);
    if (options.costs === undefined) this.#runtime.impossible.checkCharged();
    return (source) =>
      new Observable((out) => {
        source.subscribe(
          new PipelineSubscriber(out, this.#runtime.pipelineOf(project, options), options),
        );
      });
  }

  /**
   * As `throttle`, for a source that is read only as requests end; see `throttleFrom`. After
   * `close()` it reads no more: with `outcomes` the requests in flight and those that wait still
   * have theirs, then the stream ends with a `LimiterClosedError`.
   * @throws RangeError or TypeError that names a wrong option
   */
  throttleFrom<T, O extends ProjectOutput, B extends boolean | undefined = false>(
    source: PullSource<T | Sized<T>>,
    project: Project<T, O>,
    options?: LimiterThrottleOptions<T> & PullOptions & { readonly outcomes?: B },
  ): Observable<Emitted<T, O, B>>;
  throttleFrom<T, O extends ProjectOutput>(
    source: PullSource<T | Sized<T>>,
    project: Project<T, O>,
    options: LimiterThrottleOptions<T> & PullOptions = {},
  ): Observable<ObservedValueOf<O> | Outcome<T, ObservedValueOf<O>>> {
    checkOwner(this, Limiter, 'limiter.throttleFrom');
    const { lifecycle } = this.#runtime;
    const { gate, slots } = this.#runtime.gate;
    const queue = {
      get hasRoom() {
        return gate.hasRoom;
      },
      get closed() {
        return lifecycle.closed;
      },
    };
    return pull(source, project, options, slots.maxLimit, (watched, own, waitIn) => {
      waitIn(queue);
      return this.throttle(watched, own);
    });
  }

  /**
   * Calls `fn` for each value of a source, as `run` does, and resolves with the results in the
   * order of the source: an iterable, an async iterable or a ReadableStream. It is read only as
   * requests are sent: one value at the most is read ahead. The first request that fails for good
   * ends the call, and all other requests are abandoned. With `outcomes` each result is an
   * `Outcome`, and no failed request ends the call: then only `signal` ends that of a source without
   * an end, also after `close()`.
   *
   * @returns rejects with the error of that request, of the source, or with the signal's reason
   * @throws RangeError or TypeError that names a wrong option
   */
  map<T, R, B extends boolean | undefined = false>(
    source: PullSource<T>,
    fn: MapTask<T, R>,
    options?: MapOptions<T> & { readonly outcomes?: B },
  ): Promise<ResultOrOutcome<T, Awaited<R>, B>[]>;
  map<T, R>(
    source: PullSource<T>,
    fn: MapTask<T, R>,
    options: MapOptions<T> = {},
  ): Promise<unknown[]> {
    checkOwner(this, Limiter, 'limiter.map');
    return mapThrough('limiter.map', source, fn, options, (project, own) =>
      this.throttle(project, own),
    );
  }

  /**
   * Calls `task` when the gate lets it pass, and again if the API rejects it: what `throttle` does
   * for one request, as a promise. Waiting for a slot does not keep the process alive. The task
   * runs in the async context of this call, so an `AsyncLocalStorage` has the same value there.
   * @returns the result of the task; rejects with its error, the signal's reason, or the error of
   * the limit that refused it
   * @throws RangeError or TypeError that names a wrong option
   */
  run<R>(task: Task<R>, options?: AcquireOptions): Promise<R> {
    checkOwner(this, Limiter, 'limiter.run');
    checkFunction('task', task);
    return this.#calls.run(task, options);
  }

  /**
   * Makes a function whose calls go through the limiter, as `run` does.
   * @param options the options of each request, or a function that returns them, or undefined, for
   * the arguments; the call rejects with an error of that function
   * @throws RangeError or TypeError that names a wrong option
   */
  wrap<This, Args extends unknown[], R>(
    fn: (this: This, ...args: Args) => R | PromiseLike<R>,
    options?: AcquireOptions | ((...args: Args) => AcquireOptions | undefined),
  ): (this: This, ...args: Args) => Promise<R> {
    checkOwner(this, Limiter, 'limiter.wrap');
    checkFunction('fn', fn);
    if (options !== undefined && typeof options !== 'function') checkAcquireOptions(options);
    const run = (task: Task<R>, own: AcquireOptions | undefined) => this.run(task, own);
    return function wrapped(...args) {
      try {
        const own = typeof options === 'function' ? options(...args) : options;
        return run(() => fn.apply(this, args), own);
      } catch (error) {
        return Promise.reject(error);
      }
    };
  }

  /**
   * Waits until the gate admits a request, which you then send yourself.
   * @returns a lease to give back when the request has ended (it is never reclaimed); rejects with
   *   the signal's reason, or the error of the limit that refused it
   * @throws RangeError or TypeError that names a wrong option
   */
  acquire(options?: AcquireOptions): Promise<Lease> {
    checkOwner(this, Limiter, 'limiter.acquire');
    return this.#leases.acquire(options);
  }

  /**
   * Calls `body` with a lease, and releases the lease when `body` ends. The outcome is `ok` if
   * `body` returns, unless it has observed a failed answer. If it throws, the outcome is `cancelled`
   * if `options.signal` has aborted, else `failed` with that error, so a 429 closes the gates.
   * `body` is called once: nothing is sent again.
   *
   * @returns what `body` returns; rejects with what it throws, or as `acquire` does
   * @throws RangeError or TypeError that names a wrong option
   * @example
   * const answer = await limiter.use(async (lease) => {
   *   return lease.observe(await client.complete('ready?')); // its limits and tokens
   * });
   */
  async use<R>(body: (lease: Lease) => R | PromiseLike<R>, options?: AcquireOptions): Promise<R> {
    checkOwner(this, Limiter, 'limiter.use');
    checkFunction('body', body);
    const lease = await this.acquire(options);
    try {
      const result = await lease.send(() => body(lease));
      lease.release();
      return result;
    } catch (error) {
      if (options?.signal?.aborted === true) lease.release('cancelled');
      else lease.release('failed', error);
      throw error;
    }
  }

  /**
   * A lease if a request may be sent at once; undefined if it would have to wait.
   * @throws LimiterClosedError; CostAboveLimitError or UnknownLimitError if it can never be sent
   * @throws RangeError or TypeError that names a wrong option
   */
  tryAcquire(options: Omit<AcquireOptions, 'signal' | 'timeoutMs'> = {}): Lease | undefined {
    checkOwner(this, Limiter, 'limiter.tryAcquire');
    return this.#leases.tryAcquire(options);
  }

  /**
   * Records the success of a request that was sent without the limiter. It counts for progress,
   * too.
   * @throws RangeError or TypeError for a value that is no amount, or an unknown key
   */
  recordSuccess(amounts: RecordedSuccess = {}): void {
    this.#outside.succeeded(amounts);
  }

  /**
   * Records the final failure of a request that was sent without the limiter; `error` is read by
   * its shape.
   * @throws an error of `classify`; TypeError if it returns no verdict
   */
  recordFailure(error?: unknown): void {
    this.#outside.failed(error);
  }

  /**
   * Records tokens that were used without the limiter, for the limit with the name `tokens`, if
   * there is one.
   */
  recordTokens(tokens: number): void {
    this.#outside.used(tokens);
  }

  /**
   * Makes more of a quota available (a limit whose `windowMs` is Infinity), at once: requests that
   * wait for it go on. If more than its limit is then available, the available amount becomes its
   * limit.
   * @throws RangeError or TypeError for a value that is no amount, or a limit that time refills;
   *   UnknownLimitError
   */
  add(limit: string, amount: number): void {
    const { gate, clock } = this.#runtime;
    addToQuota(gate.policies.rateLimit, limit, amount, clock.now());
    this.#runtime.configured();
  }

  /** The present state, in plain numbers. */
  snapshot(): LimiterSnapshot {
    return this.#runtime.snapshot();
  }

  /**
   * Changes limits while requests wait and run: all given ones, or none if one is wrong.
   * @throws RangeError or TypeError that names the option, also for an option that cannot change
   */
  configure(changes: Changes): void {
    configure(changes, this.#runtime);
  }

  /**
   * Sends nothing until `resume`: all requests wait, retries too. Requests in flight go on. Waits
   * are booked to `paused`, and the state is `paused`. A request whose `waitTimeoutMs` or deadline
   * passes meanwhile fails as usual.
   *
   * @param reason shown in the snapshot and in the event
   * @throws TypeError for a reason that is no string
   */
  pause(reason?: string): void {
    checkReason(reason);
    this.#runtime.lifecycle.pause(reason);
  }

  /** Ends a pause, and lets all requests pass that may. */
  resume(): void {
    this.#runtime.lifecycle.resume();
  }

  /**
   * Ends the wait of all waiting requests, retries too, once each: promises reject, streams fail,
   * or with `outcomes` each of their requests fails. Requests in flight go on, and so do requests
   * in the short delay between two attempts.
   *
   * @param reason the error for them, or the reason in a `QueueClearedError`
   * @throws TypeError for a reason that is neither an Error nor a string
   */
  clear(reason?: string | Error): void {
    this.#runtime.lifecycle.clear(reason);
  }

  /**
   * Gives the unfinished requests with this `id` another priority, an integer. A waiting request
   * keeps its time of arrival, and takes the place that it would have with this priority from the
   * start. A request in flight has the priority when it waits for a retry.
   *
   * @param id as given to `run`, `acquire`, `wrap` or, as a function, to `throttle`
   * @returns how many of them wait
   * @throws RangeError or TypeError for a priority that is no integer
   * @example
   * const answer = limiter.run(() => client.complete(prompt), { id: prompt.user });
   * limiter.setPriority(prompt.user, 10);
   */
  setPriority(id: unknown, priority: number): number {
    checkPriority(priority);
    return this.#runtime.setPriority(id, priority);
  }

  /**
   * Accepts no new requests, for good: they fail with a `LimiterClosedError`. Waiting requests are
   * still sent (`waiting: 'send'`, the default), or fail with that error too (`'reject'`). Requests
   * in flight go on. See `drain`. A paused limiter stays paused.
   *
   * @throws TypeError for another option, or another value
   */
  close(options: CloseOptions = {}): void {
    this.#runtime.lifecycle.close(checkClose('limiter.close', options));
  }

  /**
   * Resolves when no request waits or runs. New requests may arrive, unless the limiter is closed.
   */
  drain(): Promise<void> {
    return new Promise((resolve) => this.#runtime.counters.whenEmpty(resolve));
  }

  /** @internal the parts that a group uses */
  get inside(): LimiterRuntime {
    return this.#runtime;
  }
}
