import { Observable, type ObservedValueOf, type OperatorFunction, type Subscriber } from 'rxjs';
import type { Outcome } from '../model/outcome.ts';
import { isTicket, type Ticket } from '../model/ticket.ts';
import { REQUEST_OPTIONS } from '../options/limiter-config.ts';
import { checkOptions } from '../policies/option.ts';
import { DEFAULT_ATTEMPT_TIMEOUT_MS, RetryPolicy } from '../policies/retry.ts';
import { classifierOf } from '../providers/classify.ts';
import { FeedbackSubject } from '../request/feedback-subject.ts';
import {
  COMMON_KEYS,
  type CommonOptions,
  resolveCommonOptions,
  watchOperator,
} from '../request/gate-options.ts';
import { ResultSubscriber } from '../request/result-subscriber.ts';
import {
  type AnswerRules,
  checkResultOptions,
  checkRetryOptions,
  type DispatchContext,
  type Emitted,
  type Project,
  type ProjectOutput,
  RESULT_KEYS,
  RETRY_KEYS,
  type ResultOptions,
  type RetryOptions,
} from '../request/send-options.ts';
import { observeTicket } from '../request/stream-requests.ts';
import { type RequestInput, TicketFactory } from '../request/ticket-factory.ts';
import { checkFunction, checkKeys } from '../util/check.ts';
import { Timeouts } from '../util/timers.ts';

/** Sends all tickets at once: the subscriber behind `dispatch`. */
class DispatchSubscriber<T, R> extends ResultSubscriber<T, R> {
  private readonly factory: TicketFactory<T>;
  private readonly dispatch: DispatchContext<T, R>;

  constructor(
    out: Subscriber<R | Outcome<T, R>>,
    factory: TicketFactory<T>,
    dispatch: DispatchContext<T, R>,
    results: ResultOptions,
  ) {
    super(out, results);
    this.factory = factory;
    this.dispatch = dispatch;
    this.closeWithDownstream();
  }

  protected override _next(input: RequestInput<T>): void {
    let ticket: Ticket<T>;
    try {
      ticket = isTicket(input) ? input : this.factory.ticketNow(input);
      ticket.take(this);
    } catch (error) {
      this.fail(error);
      return;
    }
    observeTicket(ticket, this.factory.instrumentation);
    this.send(ticket, this.dispatch);
  }
}

/** Options of `dispatch`. */
export interface DispatchOptions extends RetryOptions, ResultOptions, CommonOptions {}

const KEYS = [...RETRY_KEYS, ...RESULT_KEYS, ...COMMON_KEYS] as const;

/** Successful answers are not read, and every named wait closes the backoff gate. */
const PLAIN_ANSWERS: AnswerRules = {
  readsAnswers: false,
  leastClosureMs: 0,
  understand: (verdict) => verdict,
  corrected: (verdict) => verdict,
};

/**
 * Sends each request with `project`, as `mergeMap` does, until it has ended: each answer goes to
 * `feedback`, and a rejected request is sent again, still holding its leases, as soon as the
 * backoff is over.
 *
 * 429, 503 and 529 are retried without end, and 408, 409, other 5xx and connection errors up to 3
 * attempts. A `Response` of fetch counts by its status, and the last one is emitted as a value. An
 * Observable that has emitted is not retried. The first request that fails for good errors the
 * stream, unless `outcomes` is true.
 *
 * @param project called once per attempt; its `context` has `attempt`, `index` and `signal`
 * @throws RangeError or TypeError that names a wrong option
 * @example
 * prompts$.pipe(byteEstimate(), byteBudget(), dispatch((prompt) => client.complete(prompt)))
 */
export function dispatch<T, O extends ProjectOutput, B extends boolean | undefined = false>(
  project: Project<T, O>,
  options?: DispatchOptions & { readonly outcomes?: B },
): OperatorFunction<RequestInput<T>, Emitted<T, O, B>>;
export function dispatch<T, O extends ProjectOutput>(
  project: Project<T, O>,
  options: DispatchOptions = {},
): OperatorFunction<RequestInput<T>, ObservedValueOf<O> | Outcome<T, ObservedValueOf<O>>> {
  checkFunction('project', project);
  checkKeys('dispatch', options, KEYS);
  checkRetryOptions(options);
  checkBounds(options);
  checkResultOptions(options);
  const common = resolveCommonOptions(options);
  const { attemptTimeoutMs = DEFAULT_ATTEMPT_TIMEOUT_MS, random = Math.random } = options;
  return (source) =>
    new Observable((out) => {
      const { clock, instrumentation, ...given } = common.withTelemetry();
      const feedback = given.feedback ?? new FeedbackSubject({ clock });
      const observed = { clock, instrumentation, feedback };
      watchOperator(out, observed, () => ({ waiting: [['retry', 0]], isSending: true }));
      const { gate } = feedback;
      const context: DispatchContext<T, ObservedValueOf<O>> = {
        // An O is an ObservableInput of its values, which TypeScript cannot derive for a generic O.
        project: project as DispatchContext<T, never>['project'],
        feedback,
        gates: [gate],
        retry: new RetryPolicy(options),
        classify: classifierOf(options.classify),
        answers: PLAIN_ANSWERS,
        clock,
        random,
        instrumentation,
        // A timeout keeps no process alive: the call of the attempt does.
        timeouts: new Timeouts(attemptTimeoutMs, clock, false),
        tap: gate.tap,
      };
      source.subscribe(
        new DispatchSubscriber(out, new TicketFactory<T>(observed), context, options),
      );
    });
}

/** @throws RangeError or TypeError that names a wrong option */
function checkBounds(options: RetryOptions): void {
  const { maxAttempts, failedAttempts, attemptTimeoutMs, deadlineMs } = REQUEST_OPTIONS;
  checkOptions({ maxAttempts, failedAttempts, attemptTimeoutMs, deadlineMs }, options);
}
