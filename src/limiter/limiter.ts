import { Observable, type ObservedValueOf, type OperatorFunction } from 'rxjs';
import { CircuitOpenError } from '../core/circuit-open-error.ts';
import { CoolingCore } from '../core/cooling-core.ts';
import { areAtRest } from '../core/policies.ts';
import { RateLimitExceededError } from '../core/rate-limit/errors.ts';
import type { FeedbackSubject } from '../feedback/feedback-subject.ts';
import { checkAmount, checkFunction, checkKeys, checkNumber } from '../model/check.ts';
import { deferred } from '../model/deferred.ts';
import { QueueClearedError } from '../model/errors.ts';
import type { Outcome } from '../model/outcome.ts';
import { isError } from '../model/print.ts';
import type { Sized } from '../model/sized.ts';
import type { Ticket } from '../model/ticket.ts';
import type { AttemptContext } from '../request/attempt-context.ts';
import { bindTask } from '../request/bound-task.ts';
import { type RequestPipeline, sendThrough } from '../request/dispatch-subscriber.ts';
import { checkPull, defaultReadAhead, type PullOptions, pull } from '../request/pull.ts';
import type { PullSource } from '../request/pull-iterator.ts';
import { pullWhenFree } from '../request/pull-when-free.ts';
import {
  checkResultOptions,
  type Emitted,
  type Project,
  type ProjectOutput,
  RESULT_KEYS,
} from '../request/send-options.ts';
import {
  checkRequestOptions,
  REQUEST_KEYS,
  type RequestOptions,
  TicketFactory,
} from '../request/ticket-factory.ts';
import { verdictOn } from '../request/verdict.ts';
import type { CallOptions } from './call-options.ts';
import { CallPipeline } from './call-pipeline.ts';
import { withTimeout } from './call-timeout.ts';
import { Circuit } from './circuit.ts';
import { type CloseOptions, checkClose, checkReason } from './close-options.ts';
import { type Changes, configure } from './configure.ts';
import type { LimiterEvent } from './events.ts';
import { type Fetch, type FetchTask, pacedFetch } from './fetch.ts';
import { type Lease, LeaseRequest, leaseOf } from './lease.ts';
import {
  type AcquireOptions,
  checkAcquireOptions,
  checkLimiterOptions,
  type LimiterOptions,
  type LimiterThrottleOptions,
} from './limiter-options.ts';
import { type GroupSide, LimiterRuntime } from './limiter-runtime.ts';
import { checkSignal, collect, type MapOptions, type MapTask } from './map.ts';
import type { LimiterProgress } from './request-counters.ts';
import { AbortableRunRequest, RunRequest, type Task } from './run-request.ts';
import type { LimiterSnapshot, LimiterState } from './snapshot.ts';

/**
 * Makes one gate for everybody who uses one API key: streams and promises wait in the same queue,
 * higher priorities first; within one, what is sent again goes first, then what came first.
 *
 * From the first 429, or the first limit that an answer tells, it sends as fast as the API accepts
 * (`adaptive`, by default `'rate'`); where `backoff`, `throttledConcurrency` or `throttledByteFactor`
 * is given, or `adaptive: false`, it backs off and goes on slowly instead.
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

/** What is known of a request that went past the limiter. */
export interface RecordedSuccess {
  /** Charged to the limit that is named `tokens`, if there is one. */
  readonly tokens?: number;
  readonly durationMs?: number;
}

/** One gate, shared by streams and promises. Made by {@link createLimiter}. */
export class Limiter {
  /** What the API's answers say, and the backoff and the mode that follow. */
  readonly feedback: FeedbackSubject;
  /** The circuit breaker; undefined where none is on. */
  readonly circuit: Circuit | undefined;
  readonly #runtime: LimiterRuntime;
  /** How promise users go. */
  readonly #calls: CallPipeline<Task<unknown>, unknown, unknown>;
  /** What was found to be possible; its gate asks again. */
  #possible: CallOptions | undefined = undefined;

  /**
   * @internal
   * @param group what the limiter has in common with others
   */
  constructor(options: LimiterOptions, group?: GroupSide) {
    this.#runtime = new LimiterRuntime(options, group);
    const { gate } = this.#runtime;
    this.feedback = gate.feedback;
    const { circuitBreaker } = gate.policies;
    this.circuit = circuitBreaker && new Circuit(circuitBreaker, gate);
    this.#calls = this.#pipelineOf(new TicketFactory(this.#runtime.around), callTask);
  }

  /**
   * What happens here, each with the level that a log should give it. Changes of the mode are told
   * as long as somebody listens. A listener that throws disturbs no request; RxJS reports its error.
   * Completes when the limiter is closed and drained, as the other streams do.
   */
  get events$(): Observable<LimiterEvent> {
    return this.#runtime.events$;
  }

  /** The state now, then each change. */
  get state$(): Observable<LimiterState> {
    return this.#runtime.state$;
  }

  /**
   * How far all have got: now, then at each milestone, and else as requests end, once a second at
   * the most. What has ended before the first look counts, but not for the mean duration.
   */
  get progress$(): Observable<LimiterProgress> {
    return this.#runtime.progress$;
  }

  /**
   * A `fetch` to hand to an SDK. Each call is a request as one of `run`; its `body` is its size. A
   * response that is ok holds its slot until the last of its body has come, was cancelled, aborted
   * by the call's signal, or broke; one without a body, or that is not ok, until its head has come.
   * Up to 256 KiB are read ahead; a longer body that nobody reads for 30 s holds no slot any more.
   */
  get fetch(): Fetch {
    const send: Fetch = (input, init) => fetch(input, init);
    const { around, clock } = this.#runtime;
    const pipeline = this.#pipelineOf(new TicketFactory<FetchTask>(around), callFetch);
    const run = (task: FetchTask, options: AcquireOptions) => this.#call(task, pipeline, options);
    return pacedFetch(run, send, clock);
  }

  /**
   * As the operator `throttle`, through this limiter's gates.
   * @throws TypeError that names a wrong option
   */
  throttle<T, O extends ProjectOutput, B extends boolean = false>(
    project: Project<T, O>,
    options?: LimiterThrottleOptions<T> & { readonly outcomes?: B },
  ): OperatorFunction<T | Sized<T>, Emitted<T, O, B>>;
  throttle<T, O extends ProjectOutput>(
    project: Project<T, O>,
    options: LimiterThrottleOptions<T> = {},
  ): OperatorFunction<T | Sized<T>, ObservedValueOf<O> | Outcome<T, ObservedValueOf<O>>> {
    checkFunction('project', project);
    checkKeys('limiter.throttle', options, [...RESULT_KEYS, ...REQUEST_KEYS]);
    checkResultOptions(options);
    checkRequestOptions(options);
    const { around, gate } = this.#runtime;
    const dispatch = this.#runtime.dispatchContextOf(project);
    return (source) =>
      new Observable((out) => {
        const factory = new TicketFactory(around, options);
        sendThrough(source, out, { factory, gate: gate.gate, dispatch }, options);
      });
  }

  /**
   * As `throttle`, of a source that is read only as requests end: see `throttleFrom`.
   * @throws RangeError or TypeError that names a wrong option
   */
  throttleFrom<T, O extends ProjectOutput, B extends boolean = false>(
    source: PullSource<T | Sized<T>>,
    project: Project<T, O>,
    options?: LimiterThrottleOptions<T> & PullOptions & { readonly outcomes?: B },
  ): Observable<Emitted<T, O, B>>;
  throttleFrom<T, O extends ProjectOutput>(
    source: PullSource<T | Sized<T>>,
    project: Project<T, O>,
    options: LimiterThrottleOptions<T> & PullOptions = {},
  ): Observable<ObservedValueOf<O> | Outcome<T, ObservedValueOf<O>>> {
    const { readAhead, ...plain } = options;
    checkPull(source, options);
    // What is wrong with the options of requests is found by making what they are for.
    this.throttle(project, plain);
    return pull(source, {
      project,
      operatorOf: (watched) => this.throttle(watched, plain),
      readAhead: readAhead ?? defaultReadAhead(this.#runtime.maxConcurrency),
      ...plain,
    });
  }

  /**
   * Calls `fn` for each value of a source, as `run` does, and resolves with the results in the order
   * of the source: an iterable, an async iterable or a ReadableStream. It is read only as requests are
   * sent: one value at the most is read ahead. The first request that fails for good ends it, and what
   * waits and runs is abandoned; with `outcomes` each result is an `Outcome`, and none does.
   *
   * @returns rejects with the error of that request, of the source, or with the signal's reason
   * @throws RangeError or TypeError that names a wrong option
   */
  map<T, R>(
    source: PullSource<T>,
    fn: MapTask<T, R>,
    options: MapOptions<T> & { readonly outcomes: true },
  ): Promise<Outcome<T, Awaited<R>>[]>;
  map<T, R>(
    source: PullSource<T>,
    fn: MapTask<T, R>,
    options?: MapOptions<T>,
  ): Promise<Awaited<R>[]>;
  map<T, R>(
    source: PullSource<T>,
    fn: MapTask<T, R>,
    options: MapOptions<T> = {},
  ): Promise<unknown[]> {
    checkFunction('fn', fn);
    checkKeys('limiter.map', options, ['outcomes', 'signal', ...REQUEST_KEYS]);
    checkPull(source, {});
    const { signal, ...plain } = options;
    checkSignal(signal);
    const project = async (value: T, context: AttemptContext): Promise<Awaited<R>> =>
      await fn(value, context);
    // What is wrong with the options of requests is found by making what they are for.
    this.throttle(project, plain);
    const operatorOf = (watched: typeof project) =>
      this.throttle(watched, { ...plain, ordered: true }) as OperatorFunction<T, unknown>;
    const { outcomes = false } = plain;
    return collect(pullWhenFree(source, project, operatorOf, outcomes), signal);
  }

  /**
   * Calls `task` when all gates let it pass, and again where the API rejects it; all that `throttle`
   * does for one request, as a promise. Waiting for a slot does not keep the process alive. The task
   * runs in the async context of this call: an `AsyncLocalStorage` has there what it has here.
   * @returns what the task returns; rejects with its error, with the signal's reason, or with that
   * of the limit that refused it
   * @throws RangeError or TypeError that names a wrong option
   */
  run<R>(task: Task<R>, options?: AcquireOptions): Promise<R> {
    checkFunction('task', task);
    if (options?.timeoutMs !== undefined) {
      const { clock } = this.#runtime;
      return withTimeout(options.timeoutMs, options, clock, (said) => this.run(task, said));
    }
    // One pipeline serves tasks of every type: what a task returns is handed on untouched.
    return this.#call(task, this.#calls as unknown as CallPipeline<Task<R>, R>, options);
  }

  #call<R, T>(task: T, pipeline: CallPipeline<T, R>, said?: AcquireOptions): Promise<R> {
    const options = callOptionsOf(said, task, pipeline);
    const ticket = this.#ticketOf(task, options);
    const { promise, resolve } = deferred<R>();
    const signal = said?.signal;
    const bound = bindTask(task, promise);
    if (ticket === undefined && signal === undefined) {
      options.enter(bound ?? task, resolve);
      return promise;
    }
    const request =
      signal === undefined
        ? new RunRequest<R, T>(options, resolve, bound)
        : new AbortableRunRequest<R, T>(options, resolve, bound, signal);
    ticket?.take(request);
    request.start(task, ticket);
    return promise;
  }

  /**
   * Makes a function whose calls go through the limiter, as `run` does.
   * @param options what to say of each request, or a function that says it of the arguments; what
   * that throws, the call rejects with
   * @throws RangeError or TypeError that names a wrong option
   */
  wrap<This, Args extends unknown[], R>(
    fn: (this: This, ...args: Args) => R | PromiseLike<R>,
    options?: AcquireOptions | ((...args: Args) => AcquireOptions),
  ): (this: This, ...args: Args) => Promise<R> {
    checkFunction('fn', fn);
    if (options !== undefined && typeof options !== 'function') checkAcquireOptions(options);
    const run = (task: Task<R>, said: AcquireOptions | undefined) => this.run(task, said);
    return function wrapped(...args) {
      try {
        const said = typeof options === 'function' ? options(...args) : options;
        return run(() => fn.apply(this, args), said);
      } catch (error) {
        return Promise.reject(error);
      }
    };
  }

  /**
   * Waits until all gates let a request pass that you send yourself.
   * @returns a lease to give back when the request has ended (nothing reclaims it); rejects with the
   * signal's reason, or with that of the limit that refused it
   * @throws RangeError or TypeError that names a wrong option
   */
  acquire(options?: AcquireOptions): Promise<Lease> {
    if (options?.timeoutMs !== undefined) {
      const { clock } = this.#runtime;
      return withTimeout(options.timeoutMs, options, clock, (said) => this.acquire(said));
    }
    const said = callOptionsOf(options, undefined, this.#calls);
    const ticket = this.#ticketOf(undefined, said);
    return new Promise((resolve, reject) => {
      const request = new LeaseRequest(said, resolve, reject, options?.signal);
      ticket?.take(request);
      request.start(undefined, ticket);
    });
  }

  /**
   * Runs something with a lease, and gives it back: as `ok` where it returns, as `failed` with its error
   * where it throws, so that a 429 closes the gates; where `options.signal` has aborted, as `cancelled`.
   * It is called once: nothing is sent again.
   *
   * @returns what `body` returns; rejects with what it throws, or as `acquire` does
   * @throws RangeError or TypeError that names a wrong option
   * @example
   * const answer = await limiter.use(async (lease) => {
   *   const answer = await client.complete('ready?');
   *   lease.recordTokens(answer.usage.total_tokens);
   *   return answer;
   * });
   */
  async use<R>(body: (lease: Lease) => R | PromiseLike<R>, options?: AcquireOptions): Promise<R> {
    checkFunction('body', body);
    const lease = await this.acquire(options);
    try {
      const result = await body(lease);
      lease.release();
      return result;
    } catch (error) {
      if (options?.signal?.aborted === true) lease.release('cancelled');
      else lease.release('failed', error);
      throw error;
    }
  }

  /**
   * A lease, if a request may be sent at once; undefined: it would have to wait.
   * @throws LimiterClosedError; CostAboveLimitError, UnknownLimitError: it may never be sent
   * @throws RangeError or TypeError that names a wrong option
   */
  tryAcquire(options: Omit<AcquireOptions, 'signal' | 'timeoutMs'> = {}): Lease | undefined {
    const ticket = ticketNow(undefined, callOptionsOf(options, undefined, this.#calls));
    ticket.take(this);
    const { gate, dispatch } = this.#calls;
    if (gate.tryEnter(ticket)) return leaseOf(ticket, dispatch);
    const { refusal } = ticket;
    const isPassing =
      refusal instanceof RateLimitExceededError || refusal instanceof CircuitOpenError;
    const isImpossible = refusal !== undefined && !isPassing;
    // Who asks until it is granted has one request, not one for each time.
    ticket.settle(isImpossible ? 'rejected' : 'cancelled');
    if (isImpossible) throw refusal;
    return undefined;
  }

  /**
   * A request that went past the limiter has gone well; it counts for progress, too.
   * @throws RangeError or TypeError for what is no amount
   */
  recordSuccess({ tokens, durationMs }: RecordedSuccess = {}): void {
    if (durationMs !== undefined) checkNumber('durationMs', durationMs, 0);
    if (tokens !== undefined) this.recordTokens(tokens);
    this.#runtime.counters.recorded('ok', durationMs);
    const now = this.feedback.clock.now();
    this.#runtime.gate.policies.circuitBreaker?.recordVerdict(OK, now);
    this.feedback.next(OK);
  }

  /**
   * A request that went past the limiter has failed, for good; `error` is read by its shape.
   * @throws what `classify` throws; TypeError where it returns no verdict
   */
  recordFailure(error?: unknown): void {
    const { circuitBreaker, adaptive } = this.#runtime.gate.policies;
    const { classify } = this.#calls.dispatch;
    const verdict = error === undefined ? FAILED : verdictOn(error, classify);
    this.#runtime.counters.recorded('failed', undefined);
    const now = this.feedback.clock.now();
    circuitBreaker?.recordVerdict(verdict, now);
    if (adaptive instanceof CoolingCore) adaptive.recordVerdict(verdict, now);
    this.feedback.next(verdict);
    this.#runtime.gate.changed();
  }

  /** Tokens that were used past the limiter: charged to the limit that is named `tokens`, if there is one. */
  recordTokens(tokens: number): void {
    const used = checkAmount('tokens', tokens);
    const limits = this.#runtime.gate.policies.rateLimit?.limits;
    if (limits?.names.includes('tokens'))
      limits.charge({ tokens: used }, this.feedback.clock.now());
  }

  /** The state of everything now, in plain numbers. */
  snapshot(): LimiterSnapshot {
    return this.#runtime.snapshot();
  }

  /**
   * Changes limits while requests wait and run: all of them or, where one is wrong, none.
   * @throws RangeError or TypeError that names the option; for one that cannot change, too
   */
  configure(changes: Changes): void {
    configure(changes, this.#runtime);
    this.#possible = undefined;
  }

  /**
   * Sends nothing until `resume`: requests wait, those too that are to be sent again. What is in
   * flight goes on. Waits are booked to `paused`, and the state is `paused`. A request whose
   * `waitTimeoutMs` or deadline passes meanwhile fails as ever.
   *
   * @param reason shown in the snapshot and in the event
   * @throws TypeError for a reason that is no string
   */
  pause(reason?: string): void {
    checkReason(reason);
    this.#runtime.pause(reason);
  }

  /** Ends a pause: all requests pass that may. */
  resume(): void {
    this.#runtime.resume();
  }

  /**
   * Ends the wait of all requests that wait now, those too that wait to be sent again, once each:
   * promises reject, streams fail, or with `outcomes` each of their requests does. What is in flight
   * goes on; so does a request in the short delay between two attempts.
   *
   * @param reason the error that they get, or the reason that a {@link QueueClearedError} names
   * @throws TypeError for a reason that is neither an Error nor a string
   */
  clear(reason?: string | Error): void {
    if (isError(reason)) {
      this.#runtime.clear(reason, reason.message);
      return;
    }
    checkReason(reason);
    this.#runtime.clear(new QueueClearedError(reason), reason);
  }

  /**
   * Takes no new requests, for good: they fail with a `LimiterClosedError`. Those that wait already
   * are still sent (`waiting: 'send'`, the default), or fail with that error too (`'reject'`); what is
   * in flight goes on. See `drain`. A limiter that is paused stays paused.
   *
   * @throws TypeError for another option, or another value
   */
  close(options: CloseOptions = {}): void {
    this.#runtime.close(checkClose('limiter.close', options));
  }

  /** Resolves when no request waits or runs. New ones may come, unless the limiter is closed. */
  drain(): Promise<void> {
    return new Promise((resolve) => this.#runtime.counters.whenEmpty(resolve));
  }

  /** @internal changes of the mode, which nobody is told of that does not listen */
  get modes$(): Observable<LimiterEvent> {
    return this.#runtime.modes$;
  }

  /** @internal whether no request waits or runs */
  get isIdle(): boolean {
    return this.#runtime.counters.isEmpty;
  }

  /** @internal whether a new limiter would do the same as this one */
  get isForgettable(): boolean {
    const { gate, isPaused } = this.#runtime;
    if (!this.isIdle || isPaused || this.feedback.mode !== 'normal') return false;
    return areAtRest(gate.policies, this.feedback.clock.now());
  }

  /** @internal nobody will use it any more */
  abandon(): void {
    this.#runtime.abandon();
  }

  /** @internal how requests of a stream go through this limiter, one of several that it uses */
  pipelineOf<T, O extends ProjectOutput>(
    project: Project<T, O>,
    options: RequestOptions<T>,
  ): RequestPipeline<T, ObservedValueOf<O>> {
    return this.#pipelineOf(new TicketFactory<T>(this.#runtime.around, options), project);
  }

  #pipelineOf<T, O extends ProjectOutput, V>(
    factory: TicketFactory<V>,
    project: Project<T, O>,
  ): CallPipeline<T, ObservedValueOf<O>, V> {
    const { gate } = this.#runtime.gate;
    return new CallPipeline(factory, gate, this.#runtime.dispatchContextOf(project));
  }

  /** Undefined: it can be sent, and its wait is neither watched nor bounded; its ticket can wait. */
  #ticketOf<T, R, V, W extends V>(
    value: W,
    options: CallOptions<CallPipeline<T, R, V>>,
  ): Ticket<W> | undefined {
    const { gate, defaults } = options.pipeline;
    if (gate.needsTickets) return ticketNow(value, options);
    if (options !== this.#possible && options !== defaults) {
      if (this.#runtime.refusal(options) !== undefined) return ticketNow(value, options);
      this.#possible = options;
    }
    return undefined;
  }
}

/** @throws RangeError or TypeError that names a wrong option */
function callOptionsOf<T, R, V>(
  options: AcquireOptions | undefined,
  value: unknown,
  pipeline: CallPipeline<T, R, V>,
): CallOptions<CallPipeline<T, R, V>> {
  if (options === undefined) return pipeline.defaults;
  checkAcquireOptions(options);
  const tokensOf = (bytes: number) => pipeline.factory.tokensOf(value, bytes);
  pipeline.latest = pipeline.latest.with(options, tokensOf);
  return pipeline.latest;
}

function ticketNow<T, R, V, W extends V>(
  value: W,
  options: CallOptions<CallPipeline<T, R, V>>,
): Ticket<W> {
  const { factory } = options.pipeline;
  return factory.ticket(value, options.bytes, options.tokens, factory.clock.now(), options);
}

const OK = { kind: 'ok' } as const;
const FAILED = { kind: 'failed' } as const;

function callFetch(task: FetchTask, context: AttemptContext): Observable<Response> {
  return task(context);
}

function callTask(task: Task<unknown>, context: AttemptContext): Promise<unknown> {
  return Promise.resolve(task(context));
}
