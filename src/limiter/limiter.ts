import {
  filter,
  map,
  merge,
  Observable,
  type ObservableInput,
  type ObservedValueOf,
  type OperatorFunction,
  skip,
} from 'rxjs';
import { CircuitOpenError } from '../core/circuit-open-error.ts';
import { CoolingCore } from '../core/cooling-core.ts';
import { RateLimitExceededError } from '../core/rate-limit/errors.ts';
import type { RetryPolicy } from '../core/retry.ts';
import { DEFAULT_CONCURRENCY } from '../core/slots.ts';
import type { FeedbackSubject } from '../feedback/feedback-subject.ts';
import { checkAmount, checkFunction, checkKeys } from '../model/check.ts';
import { LimiterClosedError } from '../model/errors.ts';
import type { GateKind, Outcome } from '../model/outcome.ts';
import type { Sized } from '../model/sized.ts';
import type { Ticket } from '../model/ticket.ts';
import type { AttemptContext } from '../operators/attempt-context.ts';
import { surroundings } from '../operators/common-options.ts';
import type { Dispatcher } from '../operators/dispatcher.ts';
import { type Gates, gatesOf, sendThrough } from '../operators/gates.ts';
import {
  checkRequestOptions,
  Intake,
  type IntakeSurroundings,
  REQUEST_KEYS,
} from '../operators/intake.ts';
import {
  checkResultOptions,
  checkRetryOptions,
  dispatcherOf,
  type Project,
  RESULT_KEYS,
  retryPolicyOf,
} from '../operators/send-options.ts';
import { Call, type CallRoute, type Task } from './call.ts';
import { Census, type LimiterProgress } from './census.ts';
import { type Changes, configure } from './configure.ts';
import { Events, type LimiterEvent, leveled } from './events.ts';
import { type Fetch, pacedFetch } from './fetch.ts';
import { Acquisition, type Lease, type LeaseRoute, leaseOf } from './lease.ts';
import {
  type AcquireOptions,
  checkAcquireOptions,
  checkLimiterNumbers,
  LIMITER_KEYS,
  type LimiterOptions,
  type LimiterThrottleOptions,
} from './limiter-options.ts';
import { bindingOf, type LimiterSnapshot, type LimiterState, snapshotOf } from './snapshot.ts';

/**
 * Makes one set of gates for everybody who uses one API key: streams and promises wait in the same
 * queues, higher priorities first, and first come first served within one.
 *
 * @throws RangeError or TypeError that names a wrong option
 * @example
 * const limiter = createLimiter({ concurrency: 50, requestsPerMinute: 10_000 });
 * prompts$.pipe(limiter.throttle((prompt) => client.complete(prompt))).subscribe(save);
 * const answer = await limiter.run(() => client.complete('ready?'), { priority: 1 });
 */
export function createLimiter(options: LimiterOptions = {}): Limiter {
  checkKeys('createLimiter', options, LIMITER_KEYS);
  checkLimiterNumbers(options);
  checkRetryOptions(options);
  return new Limiter(options);
}

/** One set of gates, shared by streams and promises. Made by {@link createLimiter}. */
export class Limiter {
  /** What the API's answers say, and the backoff and the mode that follow. */
  readonly feedback: FeedbackSubject;
  /**
   * What happens here, each with the level that a log should give it. Changes of the mode are told
   * as long as somebody listens. A listener that throws disturbs no request; RxJS reports its error.
   */
  readonly events$: Observable<LimiterEvent>;
  /** The state now, then each change. */
  readonly state$: Observable<LimiterState>;
  /**
   * How far all have got: now, then at each milestone, and else as requests end, once a second at
   * the most. What has ended before the first look counts, but not for the mean duration.
   */
  readonly progress$: Observable<LimiterProgress>;
  /** A `fetch` to hand to an SDK. Each call is a request of `run`; its `body` is its size. */
  readonly fetch: Fetch;
  readonly #options: LimiterOptions;
  readonly #around: IntakeSurroundings;
  readonly #gates: Gates;
  readonly #retry: RetryPolicy;
  readonly #census: Census;
  readonly #events = new Events();
  /** The way of a promise user. */
  readonly #route: LeaseRoute & CallRoute<unknown>;
  #maxConcurrency: number;
  #closed: LimiterClosedError | undefined = undefined;

  /** @internal */
  constructor(options: LimiterOptions) {
    this.#options = options;
    this.#maxConcurrency = options.concurrency ?? DEFAULT_CONCURRENCY;
    const { clock, probe } = surroundings(options);
    this.#gates = gatesOf(options)({
      isPrioritized: true,
      tell: (fact) => this.#events.tell(fact),
      door: () => this.#closed ?? this.#openCircuit(),
      onWaited: (gate, waitMs, rounds) => {
        if (!this.#events.observed) return;
        this.#events.tell({ kind: 'waited', at: clock.now(), gate, waitMs, rounds });
      },
    });
    this.feedback = this.#gates.feedback;
    this.#retry = retryPolicyOf(options);
    this.#census = new Census(clock, this.#counted(), options, (percent) =>
      this.#events.tell({ kind: 'milestone', at: clock.now(), percent }),
    );
    this.#around = { clock, probe, attendance: this.#census };
    this.#route = {
      intake: new Intake(this.#around),
      first: this.#gates.concurrency,
      rest: [this.#gates.byteBudget, this.#gates.attempt.gate],
      dispatcher: this.#dispatcherOf(callTask),
    };
    const modes = this.feedback.mode$.pipe(
      skip(1),
      map((mode) => leveled({ kind: 'modeChanged', at: clock.now(), mode })),
    );
    this.events$ = merge(this.#events, modes);
    this.state$ = this.#watchState();
    this.progress$ = new Observable((out) => {
      out.next(this.#census.progress());
      out.add(this.#census.reports.subscribe(out));
    });
    this.fetch = pacedFetch(
      (task, request) => this.run(task, request),
      (input, init) => fetch(input, init),
    );
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
    const dispatcher = this.#dispatcherOf(project);
    return (source) =>
      new Observable((out) => {
        const intake = new Intake(this.#around, options);
        sendThrough(source, out, this.#gates, intake, dispatcher, options);
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
    const ticket = this.#ticketOf(task, options);
    // One route serves tasks of every type: what a task returns is handed on untouched.
    const route = this.#route as unknown as CallRoute<R>;
    return new Promise((resolve, reject) => {
      new Call(task, ticket, route, resolve, reject).start(options?.signal);
    });
  }

  /**
   * Makes a function whose calls go through the limiter, as `run` does.
   * @param options what to say of each request, or a function that says it of the arguments
   */
  wrap<This, Args extends unknown[], R>(
    fn: (this: This, ...args: Args) => R | PromiseLike<R>,
    options?: AcquireOptions | ((...args: Args) => AcquireOptions),
  ): (this: This, ...args: Args) => Promise<R> {
    checkFunction('fn', fn);
    const { run } = this.#bound();
    return function wrapped(...args) {
      const said = typeof options === 'function' ? options(...args) : options;
      return run(() => fn.apply(this, args), said);
    };
  }

  /**
   * Waits until all gates let a request pass that you send yourself.
   * @returns a lease to give back when the request has ended (nothing reclaims it); rejects with the
   * signal's reason, or with that of the limit that refused it
   * @throws RangeError or TypeError that names a wrong option
   */
  acquire(options?: AcquireOptions): Promise<Lease> {
    const ticket = this.#ticketOf(undefined, options);
    return new Promise((resolve, reject) => {
      new Acquisition(ticket, this.#route, resolve, reject).start(options?.signal);
    });
  }

  /**
   * A lease, if a request may be sent at once; undefined: it would have to wait.
   * @throws LimiterClosedError; CostAboveLimitError, UnknownLimitError: it may never be sent
   * @throws RangeError or TypeError that names a wrong option
   */
  tryAcquire(options: Omit<AcquireOptions, 'signal'> = {}): Lease | undefined {
    const ticket = this.#ticketOf(undefined, options, true);
    ticket.take(this);
    const { first, rest, dispatcher } = this.#route;
    const passed = first.tryEnter(ticket) && rest.every((gate) => gate.tryEnter(ticket));
    if (passed) return leaseOf(ticket, dispatcher);
    ticket.settle('rejected');
    const { refusal } = ticket;
    const isPassing =
      refusal instanceof RateLimitExceededError || refusal instanceof CircuitOpenError;
    if (refusal !== undefined && !isPassing) throw refusal;
    return undefined;
  }

  /** A request that went past the limiter has gone well. */
  recordSuccess({ tokens }: { readonly tokens?: number } = {}): void {
    const now = this.feedback.clock.now();
    this.#gates.attempt.cores.circuitBreaker?.recordVerdict(OK, now);
    if (tokens !== undefined) this.recordTokens(tokens);
    this.feedback.next(OK);
  }

  /**
   * A request that went past the limiter has failed; `error` is read by its shape.
   * @throws what `classify` throws
   */
  recordFailure(error?: unknown): void {
    const { circuitBreaker, adaptive } = this.#gates.attempt.cores;
    const verdict = error === undefined ? FAILED : this.#route.dispatcher.classify(error);
    const now = this.feedback.clock.now();
    circuitBreaker?.recordVerdict(verdict, now);
    if (adaptive instanceof CoolingCore) adaptive.recordVerdict(verdict, now);
    this.feedback.next(verdict);
    this.#gates.attempt.changed();
  }

  /** Tokens that were used past the limiter: charged to the limit that is named `tokens`, if there is one. */
  recordTokens(tokens: number): void {
    const used = checkAmount('tokens', tokens);
    const limits = this.#gates.attempt.cores.rateLimit?.limits;
    if (limits?.names.includes('tokens'))
      limits.charge({ tokens: used }, this.feedback.clock.now());
  }

  /** The state of everything now, in plain numbers. */
  snapshot(): LimiterSnapshot {
    return snapshotOf({
      gates: this.#gates,
      census: this.#census,
      maxConcurrency: this.#maxConcurrency,
      state: this.#state,
      now: this.feedback.clock.now(),
    });
  }

  /**
   * Changes limits while requests wait and run: all of them or, where one is wrong, none.
   * @throws RangeError or TypeError that names the option; for one that cannot change, too
   */
  configure(changes: Changes): void {
    configure(changes, this.#gates, this.#census);
    if (changes.concurrency !== undefined) this.#maxConcurrency = changes.concurrency;
  }

  /**
   * Takes no new requests, for good: they fail with a `LimiterClosedError`. Those that wait already
   * are still sent; see `drain`.
   */
  close(): void {
    if (this.#closed !== undefined) return;
    this.#closed = new LimiterClosedError();
    const at = () => this.feedback.clock.now();
    this.#events.tell({ kind: 'closed', at: at() });
    this.#census.whenEmpty(() => {
      this.#gates.attempt.close();
      this.#events.tell({ kind: 'drained', at: at() });
    });
  }

  /** Resolves when no request waits or runs. New ones may come, unless the limiter is closed. */
  drain(): Promise<void> {
    return new Promise((resolve) => this.#census.whenEmpty(resolve));
  }

  get #state(): LimiterState {
    if (this.#closed !== undefined) return this.#census.present > 0 ? 'draining' : 'closed';
    const { circuitBreaker, adaptive } = this.#gates.attempt.cores;
    const now = this.feedback.clock.now();
    if (circuitBreaker?.snapshot(now).state === 'open') return 'circuitOpen';
    if (adaptive instanceof CoolingCore && adaptive.snapshot(now).state === 'cooling') {
      return 'cooling';
    }
    return 'running';
  }

  #watchState(): Observable<LimiterState> {
    return new Observable((out) => {
      let last = this.#state;
      out.next(last);
      const changes = this.#events.pipe(
        map(() => this.#state),
        filter((state) => state !== last),
      );
      out.add(
        changes.subscribe((state) => {
          last = state;
          out.next(state);
        }),
      );
    });
  }

  /** Why newcomers are turned away before they wait for a slot. */
  #openCircuit(): Error | undefined {
    return this.#gates.attempt.cores.circuitBreaker?.refusalAtTheDoor(this.feedback.clock.now());
  }

  #counted() {
    const gates = this.#gates;
    return {
      get inFlight(): number {
        return gates.concurrency.core.inFlight;
      },
      get binding(): GateKind | undefined {
        return bindingOf(gates);
      },
      refusal: (ticket: Ticket) => gates.attempt.cores.rateLimit?.impossible(ticket),
    };
  }

  #bound() {
    return { run: <R>(task: Task<R>, options?: AcquireOptions) => this.run(task, options) };
  }

  /** Undefined: nothing is said of the request, and nobody minds who waits; its ticket can wait. */
  #ticketOf<T>(value: T, options: AcquireOptions | undefined): Ticket<T> | undefined;
  #ticketOf<T>(value: T, options: AcquireOptions | undefined, isNeeded: true): Ticket<T>;
  #ticketOf<T>(
    value: T,
    options: AcquireOptions | undefined,
    isNeeded = false,
  ): Ticket<T> | undefined {
    const { intake, first } = this.#route;
    if (options === undefined && !isNeeded && !first.needsTickets) return undefined;
    const said = options ?? {};
    checkAcquireOptions(said);
    return intake.ticket(value, said.bytes ?? 0, said.tokens, intake.clock.now(), said);
  }

  #dispatcherOf<T, O extends ObservableInput<unknown>>(
    project: Project<T, O>,
  ): Dispatcher<T, ObservedValueOf<O>> {
    const { attempt } = this.#gates;
    const { probe } = this.#around;
    const { probe: _, ...options } = this.#options;
    return dispatcherOf(project, this.feedback, attempt.gate, this.#retry, {
      ...options,
      ...(probe && { probe }),
    });
  }
}

const OK = { kind: 'ok' } as const;
const FAILED = { kind: 'failed' } as const;

function callTask(task: Task<unknown>, context: AttemptContext): Promise<unknown> {
  return Promise.resolve(task(context));
}
