import type { ObservableInput, ObservedValueOf } from 'rxjs';
import type { Verdict } from '../model/feedback.ts';
import type { Tap } from '../model/inspection.ts';
import type { Instrumentation } from '../model/instrumentation.ts';
import type { ResultOrOutcome } from '../model/outcome.ts';
import type { RetryPolicy } from '../policies/retry.ts';
import type { Classifier } from '../providers/classify.ts';
import type { Gate } from '../queue/gate.ts';
import { checkBoolean, checkFunctions } from '../util/check.ts';
import type { Clock, Random } from '../util/clock.ts';
import type { Timeouts } from '../util/timers.ts';
import type { AttemptContext } from './attempt-context.ts';
import type { FeedbackSubject } from './feedback-subject.ts';

/** The result of a project: any ObservableInput of RxJS except a string. */
export type ProjectOutput = object & ObservableInput<unknown>;

/** The results of a request: the values of `project`, or one `Outcome` with `outcomes: true`. */
export type Emitted<T, O extends ProjectOutput, B extends boolean | undefined> = ResultOrOutcome<
  T,
  ObservedValueOf<O>,
  B
>;

/** Sends one request. */
export type Project<T, O extends ProjectOutput> = (value: T, context: AttemptContext) => O;

/** Options of retries, and of the meaning of errors. */
export interface RetryOptions {
  /**
   * The greatest number of attempts of a request, without failed connections, an integer >= 1; 1
   * turns all retries off. Default, and Infinity: no bound for 429, 503 and 529.
   */
  readonly maxAttempts?: number;
  /**
   * Attempts for a request that meets 408, 409 or another 5xx, or a timeout, an integer >= 1;
   * Infinity: no bound. Default 3.
   */
  readonly failedAttempts?: number;
  /**
   * How long an attempt may take, its body included, in ms, >= 1; Infinity: no bound. Then its
   * signal aborts, and it has failed with an `AttemptTimeoutError`. Default 600,000.
   */
  readonly attemptTimeoutMs?: number;
  /**
   * How long a request may take, from its arrival to its result, in ms, >= 1: waiting, in an
   * attempt and between attempts. Then it fails with a `DeadlineExceededError`, as it does earlier
   * if no time is left for another attempt; an attempt that runs has its signal aborted. Default,
   * and Infinity: no bound.
   */
  readonly deadlineMs?: number;
  /**
   * Returns the meaning of an error. Default, also if it returns undefined: by the error's fields.
   * It is also called for a `Response` that is not ok, and for a value that is the body of an error
   * (`{error: …}` without a result); the verdict `ok` makes it a result. `body`: the text of a
   * `Response` that is not ok, if it arrived whole within 64 KiB and 2 s. A result with a field that
   * no `Verdict` has fails the request, as another wrong result does.
   */
  readonly classify?: (error: unknown, body?: string) => Verdict | undefined;
  /** Numbers in [0, 1) for jitter. Default `Math.random`. */
  readonly random?: Random;
}

/** Options of results. */
export interface ResultOptions {
  /** Emit one `Outcome` per request, instead of an error at the first failure. Default false. */
  readonly outcomes?: boolean;
  /**
   * Emit results in the order of the source, not as requests end. In `throttle` this is the order
   * in which requests leave the gate: a priority or a refusal can change it. Default false.
   */
  readonly ordered?: boolean;
}

export const RETRY_KEYS = [
  'maxAttempts',
  'failedAttempts',
  'attemptTimeoutMs',
  'deadlineMs',
  'classify',
  'random',
] as const;
export const RESULT_KEYS = ['outcomes', 'ordered'] as const;

/** @throws RangeError or TypeError that names a wrong option */
export function checkResultOptions({ outcomes, ordered }: ResultOptions): void {
  if (outcomes !== undefined) checkBoolean('outcomes', outcomes);
  if (ordered !== undefined) checkBoolean('ordered', ordered);
}

/**
 * Checks options that are not numbers; the numbers are in the table of options.
 * @throws TypeError that names a wrong option
 */
export function checkRetryOptions(options: RetryOptions): void {
  checkFunctions(options, ['classify', 'random']);
}

/** How answers are handled. The values change when the adaptive policy changes. */
export interface AnswerRules {
  /** Whether successful answers are read for usage and limits. */
  readonly readsAnswers: boolean;
  /** The shortest wait named by an answer that closes the backoff gate, in ms. */
  readonly leastClosureMs: number;
  /** The meaning of a rejection, according to the adaptive rate. */
  understand(verdict: Verdict): Verdict;
  /** The verdict with its true wait, if waits named earlier have proved too long. */
  corrected(verdict: Verdict): Verdict;
}

/** The context that all executions of one subscription or limiter share. */
export interface DispatchContext<T, R> {
  readonly project: (value: T, context: AttemptContext) => ObservableInput<R>;
  readonly feedback: FeedbackSubject;
  /** The gate of attempts. The first attempt of a request has passed it already. */
  readonly gates: readonly Gate[];
  readonly retry: RetryPolicy;
  readonly classify: Classifier;
  readonly answers: AnswerRules;
  readonly clock: Clock;
  readonly random: Random;
  readonly instrumentation: Instrumentation | undefined;
  /** Ends attempts that take too long. */
  readonly timeouts: Timeouts;
  /** Where an inspector follows the requests. */
  readonly tap: Tap;
}

/** The usage is needed for limits, or for telemetry, which compares it with the estimate. */
export function readsUsage({
  answers,
  instrumentation,
}: Pick<DispatchContext<never, unknown>, 'answers' | 'instrumentation'>): boolean {
  return instrumentation !== undefined || answers.readsAnswers;
}
