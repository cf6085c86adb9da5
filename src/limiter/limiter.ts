import {
  Observable,
  type ObservableInput,
  type ObservedValueOf,
  type OperatorFunction,
} from 'rxjs';
import { CircuitOpenError } from '../core/circuit-open-error.ts';
import { CoolingCore } from '../core/cooling-core.ts';
import { RateLimitExceededError } from '../core/rate-limit/errors.ts';
import type { FeedbackSubject } from '../feedback/feedback-subject.ts';
import { checkAmount, checkFunction, checkKeys, checkNumber } from '../model/check.ts';
import { deferred } from '../model/deferred.ts';
import type { Outcome } from '../model/outcome.ts';
import type { Sized } from '../model/sized.ts';
import type { Ticket } from '../model/ticket.ts';
import type { AttemptContext } from '../operators/attempt-context.ts';
import { sendThrough } from '../operators/gates.ts';
import {
  checkRequestOptions,
  Intake,
  REQUEST_KEYS,
  type RequestOptions,
} from '../operators/intake.ts';
import { checkResultOptions, type Project, RESULT_KEYS } from '../operators/send-options.ts';
import { verdictOn } from '../operators/verdict.ts';
import { isAtRest } from './at-rest.ts';
import { AbortableCall, Call, type Task } from './call.ts';
import type { LimiterProgress } from './census.ts';
import { type Changes, configure } from './configure.ts';
import { Engine, type GroupSide } from './engine.ts';
import type { LimiterEvent } from './events.ts';
import { type Fetch, type FetchTask, pacedFetch } from './fetch.ts';
import { Acquisition, type Lease, leaseOf } from './lease.ts';
import {
  type AcquireOptions,
  checkAcquireOptions,
  checkLimiterOptions,
  type LimiterOptions,
  type LimiterThrottleOptions,
} from './limiter-options.ts';
import type { Said } from './said.ts';
import type { LimiterSnapshot, LimiterState } from './snapshot.ts';
import { Way } from './way.ts';

/**
 * Makes one set of gates for everybody who uses one API key: streams and promises wait in the same
 * queues, higher priorities first, and first come first served within one.
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

/** One set of gates, shared by streams and promises. Made by {@link createLimiter}. */
export class Limiter {
  /** What the API's answers say, and the backoff and the mode that follow. */
  readonly feedback: FeedbackSubject;
  readonly #engine: Engine;
  /** The way of a promise user. */
  readonly #way: Way<Task<unknown>, unknown, unknown>;
  /** What was found to be possible; its gate asks again. */
  #possible: Said | undefined = undefined;

  /**
   * @internal
   * @param group what the limiter has in common with others
   */
  constructor(options: LimiterOptions, group?: GroupSide) {
    this.#engine = new Engine(options, group);
    const { around, gates } = this.#engine;
    this.feedback = gates.feedback;
    this.#way = new Way(new Intake(around), gates, this.#engine.dispatcherOf(callTask));
  }

  /**
   * What happens here, each with the level that a log should give it. Changes of the mode are told
   * as long as somebody listens. A listener that throws disturbs no request; RxJS reports its error.
   * Completes when the limiter is closed and drained, as the other streams do.
   */
  get events$(): Observable<LimiterEvent> {
    return this.#engine.events$;
  }

  /** The state now, then each change. */
  get state$(): Observable<LimiterState> {
    return this.#engine.state$;
  }

  /**
   * How far all have got: now, then at each milestone, and else as requests end, once a second at
   * the most. What has ended before the first look counts, but not for the mean duration.
   */
  get progress$(): Observable<LimiterProgress> {
    return this.#engine.progress$;
  }

  /**
   * A `fetch` to hand to an SDK. Each call is a request as one of `run`; its `body` is its size. A
   * response that is ok holds its slot until the last of its body has come, was cancelled, aborted
   * by the call's signal, or broke; one without a body, or that is not ok, until its head has come.
   * Up to 256 KiB are read ahead; a longer body that nobody reads for 30 s holds no slot any more.
   */
  get fetch(): Fetch {
    const send: Fetch = (input, init) => fetch(input, init);
    const { around, gates, clock } = this.#engine;
    const intake = new Intake<FetchTask>(around);
    const way = new Way(intake, gates, this.#engine.dispatcherOf(callFetch));
    const run = (task: FetchTask, options: AcquireOptions) => this.#call(task, way, options);
    return pacedFetch(run, send, clock);
  }

  /**
   * As the operator `throttle`, through this limiter's gates.
   * @throws TypeError that names a wrong option
   */
  throttle<T, O extends ObservableInput<unknown>>(
    project: Project<T, O>,
    options: LimiterThrottleOptions<T> & { readonly outcomes: true },
  ): OperatorFunction<T | Sized<T>, Outcome<T, ObservedValueOf<O>>>;
  throttle<T, O extends ObservableInput<unknown>>(
    project: Project<T, O>,
    options?: LimiterThrottleOptions<T> & { readonly outcomes?: false },
  ): OperatorFunction<T | Sized<T>, ObservedValueOf<O>>;
  throttle<T, O extends ObservableInput<unknown>>(
    project: Project<T, O>,
    options: LimiterThrottleOptions<T>,
  ): OperatorFunction<T | Sized<T>, ObservedValueOf<O> | Outcome<T, ObservedValueOf<O>>>;
  throttle<T, O extends ObservableInput<unknown>>(
    project: Project<T, O>,
    options: LimiterThrottleOptions<T> = {},
  ): OperatorFunction<T | Sized<T>, ObservedValueOf<O> | Outcome<T, ObservedValueOf<O>>> {
    checkFunction('project', project);
    checkKeys('limiter.throttle', options, [...RESULT_KEYS, ...REQUEST_KEYS]);
    checkResultOptions(options);
    checkRequestOptions(options);
    const { around, gates } = this.#engine;
    const dispatcher = this.#engine.dispatcherOf(project);
    return (source) =>
      new Observable((out) => {
        const intake = new Intake(around, options);
        sendThrough(source, out, gates, intake, dispatcher, options);
      });
  }

  /**
   * Calls `task` when all gates let it pass, and again where the API rejects it; all that `throttle`
   * does for one request, as a promise. Waiting for a slot does not keep the process alive.
   * @returns what the task returns; rejects with its error, with the signal's reason, or with that
   * of the limit that refused it
   * @throws RangeError or TypeError that names a wrong option
   */
  run<R>(task: Task<R>, options?: AcquireOptions): Promise<R> {
    checkFunction('task', task);
    // One route serves tasks of every type: what a task returns is handed on untouched.
    return this.#call(task, this.#way as unknown as Way<Task<R>, R>, options);
  }

  #call<R, T>(task: T, way: Way<T, R>, options: AcquireOptions | undefined): Promise<R> {
    const said = saidIn(options, task, way);
    const ticket = this.#ticketOf(task, said);
    const { promise, resolve } = deferred<R>();
    const signal = options?.signal;
    if (ticket === undefined && signal === undefined) {
      said.enter(task, resolve);
      return promise;
    }
    const call =
      signal === undefined
        ? new Call<R, T>(said, resolve)
        : new AbortableCall<R, T>(said, resolve, signal);
    ticket?.take(call);
    call.start(task, ticket);
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
    const said = saidIn(options, undefined, this.#way);
    const ticket = this.#ticketOf(undefined, said);
    return new Promise((resolve, reject) => {
      const acquisition = new Acquisition(said, resolve, reject, options?.signal);
      ticket?.take(acquisition);
      acquisition.start(undefined, ticket);
    });
  }

  /**
   * A lease, if a request may be sent at once; undefined: it would have to wait.
   * @throws LimiterClosedError; CostAboveLimitError, UnknownLimitError: it may never be sent
   * @throws RangeError or TypeError that names a wrong option
   */
  tryAcquire(options: Omit<AcquireOptions, 'signal'> = {}): Lease | undefined {
    const ticket = ticketNow(undefined, saidIn(options, undefined, this.#way));
    ticket.take(this);
    const { gates, dispatcher } = this.#way;
    const passed = gates.every((gate) => gate.tryEnter(ticket));
    if (passed) return leaseOf(ticket, dispatcher);
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
    this.#engine.census.recorded('ok', durationMs);
    const now = this.feedback.clock.now();
    this.#engine.gates.attempt.cores.circuitBreaker?.recordVerdict(OK, now);
    this.feedback.next(OK);
  }

  /**
   * A request that went past the limiter has failed, for good; `error` is read by its shape.
   * @throws what `classify` throws; TypeError where it returns no verdict
   */
  recordFailure(error?: unknown): void {
    const { circuitBreaker, adaptive } = this.#engine.gates.attempt.cores;
    const { classify } = this.#way.dispatcher;
    const verdict = error === undefined ? FAILED : verdictOn(error, classify);
    this.#engine.census.recorded('failed', undefined);
    const now = this.feedback.clock.now();
    circuitBreaker?.recordVerdict(verdict, now);
    if (adaptive instanceof CoolingCore) adaptive.recordVerdict(verdict, now);
    this.feedback.next(verdict);
    this.#engine.gates.attempt.changed();
  }

  /** Tokens that were used past the limiter: charged to the limit that is named `tokens`, if there is one. */
  recordTokens(tokens: number): void {
    const used = checkAmount('tokens', tokens);
    const limits = this.#engine.gates.attempt.cores.rateLimit?.limits;
    if (limits?.names.includes('tokens'))
      limits.charge({ tokens: used }, this.feedback.clock.now());
  }

  /** The state of everything now, in plain numbers. */
  snapshot(): LimiterSnapshot {
    return this.#engine.snapshot();
  }

  /**
   * Changes limits while requests wait and run: all of them or, where one is wrong, none.
   * @throws RangeError or TypeError that names the option; for one that cannot change, too
   */
  configure(changes: Changes): void {
    configure(changes, this.#engine);
    this.#possible = undefined;
  }

  /**
   * Takes no new requests, for good: they fail with a `LimiterClosedError`. Those that wait already
   * are still sent; see `drain`.
   */
  close(): void {
    this.#engine.close();
  }

  /** Resolves when no request waits or runs. New ones may come, unless the limiter is closed. */
  drain(): Promise<void> {
    return new Promise((resolve) => this.#engine.census.whenEmpty(resolve));
  }

  /** @internal changes of the mode, which nobody is told of that does not listen */
  get modes$(): Observable<LimiterEvent> {
    return this.#engine.modes$;
  }

  /** @internal whether no request waits or runs */
  get isIdle(): boolean {
    return this.#engine.census.isEmpty;
  }

  /** @internal whether a new limiter would do the same as this one */
  get isForgettable(): boolean {
    return this.isIdle && isAtRest(this.#engine.gates);
  }

  /** @internal nobody will use it any more */
  abandon(): void {
    this.#engine.abandon();
  }

  /** @internal how requests of a stream go through this limiter, one of several that it uses */
  wayOf<T, O extends ObservableInput<unknown>>(
    project: Project<T, O>,
    options: RequestOptions<T>,
  ): Way<T, ObservedValueOf<O>> {
    const { around, gates } = this.#engine;
    return new Way(new Intake(around, options), gates, this.#engine.dispatcherOf(project));
  }

  /** Undefined: it can be sent, and nobody minds who waits; its ticket can wait. */
  #ticketOf<T, R, V, W extends V>(value: W, said: Said<Way<T, R, V>>): Ticket<W> | undefined {
    const { first, said: nothing } = said.route;
    if (first.needsTickets) return ticketNow(value, said);
    if (said !== this.#possible && said !== nothing) {
      if (this.#engine.refusal(said) !== undefined) return ticketNow(value, said);
      this.#possible = said;
    }
    return undefined;
  }
}

/** @throws RangeError or TypeError that names a wrong option */
function saidIn<T, R, V>(
  options: AcquireOptions | undefined,
  value: unknown,
  way: Way<T, R, V>,
): Said<Way<T, R, V>> {
  if (options === undefined) return way.said;
  checkAcquireOptions(options);
  way.latest = way.latest.with(options, (bytes) => way.intake.tokensOf(value, bytes));
  return way.latest;
}

function ticketNow<T, R, V, W extends V>(value: W, said: Said<Way<T, R, V>>): Ticket<W> {
  const { intake } = said.route;
  return intake.ticket(value, said.bytes, said.tokens, intake.clock.now(), said);
}

const OK = { kind: 'ok' } as const;
const FAILED = { kind: 'failed' } as const;

function callFetch(task: FetchTask, context: AttemptContext): Observable<Response> {
  return task(context);
}

function callTask(task: Task<unknown>, context: AttemptContext): Promise<unknown> {
  return Promise.resolve(task(context));
}
