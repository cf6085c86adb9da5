import {
  Observable,
  type ObservableInput,
  type ObservedValueOf,
  type OperatorFunction,
} from 'rxjs';
import type { RetryPolicy } from '../core/retry.ts';
import type { FeedbackSubject } from '../feedback/feedback-subject.ts';
import { checkFunction, checkKeys } from '../model/check.ts';
import type { Outcome } from '../model/outcome.ts';
import { Sized } from '../model/sized.ts';
import type { Ticket } from '../model/ticket.ts';
import type { AttemptContext } from '../operators/attempt-context.ts';
import { type Surroundings, surroundings } from '../operators/common-options.ts';
import type { Dispatcher } from '../operators/dispatcher.ts';
import { type Gates, gatesOf, sendThrough } from '../operators/gates.ts';
import { Intake } from '../operators/intake.ts';
import {
  checkResultOptions,
  checkRetryOptions,
  dispatcherOf,
  type Project,
  RESULT_KEYS,
  retryPolicyOf,
} from '../operators/send-options.ts';
import { checkEstimator } from '../operators/size.ts';
import { Call, type CallRoute, type Task } from './call.ts';
import { Acquisition, type Lease, type LeaseRoute } from './lease.ts';
import {
  type AcquireOptions,
  checkAcquireOptions,
  checkLimiterNumbers,
  LIMITER_KEYS,
  type LimiterOptions,
  type LimiterSnapshot,
  type LimiterThrottleOptions,
} from './limiter-options.ts';

/**
 * Makes one set of gates for everybody who uses one API key: streams and promises wait in the same
 * queues, first come first served.
 *
 * @throws RangeError or TypeError that names a wrong option
 * @example
 * const limiter = createLimiter({ concurrency: 50 });
 * prompts$.pipe(limiter.throttle((prompt) => client.complete(prompt))).subscribe(save);
 * const answer = await limiter.run(() => client.complete('ready?'));
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
  readonly #options: LimiterOptions;
  readonly #around: Surroundings;
  readonly #gates: Gates;
  readonly #retry: RetryPolicy;
  /** The way of a promise user. */
  readonly #route: LeaseRoute & CallRoute<unknown>;

  /** @internal */
  constructor(options: LimiterOptions) {
    this.#options = options;
    this.#gates = gatesOf(options)();
    this.feedback = this.#gates.feedback;
    this.#around = { ...surroundings(options), feedback: this.feedback };
    this.#retry = retryPolicyOf(options);
    this.#route = {
      intake: new Intake(this.#around),
      first: this.#gates.concurrency,
      rest: [this.#gates.byteBudget, this.feedback.gate],
      feedback: this.feedback,
      dispatcher: this.#dispatcherOf(callTask),
    };
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
    checkKeys('limiter.throttle', options, [...RESULT_KEYS, 'estimate']);
    checkResultOptions(options);
    const estimate = checkEstimator(options.estimate);
    const dispatcher = this.#dispatcherOf(project);
    return (source) =>
      new Observable((out) => {
        const intake = new Intake(this.#around, estimate);
        sendThrough(source, out, this.#gates, intake, dispatcher, options);
      });
  }

  /**
   * Calls `task` when all gates let it pass, and again where the API rejects it; all that `throttle`
   * does for one request, as a promise. Waiting for a slot does not keep the process alive.
   * @returns what the task returns; rejects with its error, or with the signal's reason
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
   * Waits until all gates let a request pass that you send yourself.
   * @returns a lease to give back when the request has ended (nothing reclaims it); rejects with the
   * signal's reason
   * @throws RangeError or TypeError that names a wrong option
   */
  acquire(options?: AcquireOptions): Promise<Lease> {
    const ticket = this.#ticketOf(undefined, options);
    return new Promise((resolve, reject) => {
      new Acquisition(ticket, this.#route, resolve, reject).start(options?.signal);
    });
  }

  /** The state of every gate now, in plain numbers. */
  snapshot(): LimiterSnapshot {
    return {
      concurrency: this.#gates.concurrency.snapshot(),
      byteBudget: this.#gates.byteBudget.snapshot(),
      backoff: this.feedback.gate.snapshot(),
    };
  }

  /** Undefined: nothing is said of the request, and nobody watches; its ticket can wait. */
  #ticketOf<T>(value: T, options: AcquireOptions | undefined): Ticket<T> | undefined {
    const { intake } = this.#route;
    if (options === undefined && intake.probe === undefined) return undefined;
    checkAcquireOptions(options ?? {});
    const { bytes, tokens } = new Sized(value, options?.bytes ?? 0, options?.tokens);
    return intake.ticket(value, bytes, tokens, intake.clock.now());
  }

  #dispatcherOf<T, O extends ObservableInput<unknown>>(
    project: Project<T, O>,
  ): Dispatcher<T, ObservedValueOf<O>> {
    const options = { ...this.#options, probe: this.#around.probe };
    return dispatcherOf(project, this.feedback, this.#retry, options);
  }
}

function callTask(task: Task<unknown>, context: AttemptContext): Promise<unknown> {
  return Promise.resolve(task(context));
}
