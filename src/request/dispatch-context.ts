import type { ObservableInput, ObservedValueOf } from 'rxjs';
import type { Verdict } from '../model/feedback.ts';
import type { Instrumentation } from '../model/instrumentation.ts';
import type { Tap } from '../model/tap.ts';
import { DEFAULT_ATTEMPT_TIMEOUT_MS, RetryPolicy } from '../policies/retry.ts';
import { classify } from '../providers/classify.ts';
import type { Gate } from '../queue/gate.ts';
import type { Clock, Random } from '../util/clock.ts';
import { Timeouts } from '../util/timeouts.ts';
import type { AttemptContext } from './attempt-context.ts';
import type { FeedbackSubject } from './feedback-subject.ts';
import type { Project, ProjectOutput, RetryOptions } from './send-options.ts';

/** How answers are taken in, which changes with what adapts. */
export interface AnswerRules {
  /** Whether successful answers are read for usage and limits. */
  readonly readsAnswers: boolean;
  /** The shortest wait named by an answer that closes the backoff gate, in ms. */
  readonly leastClosureMs: number;
}

/** What all executions of one subscription or limiter share. Made by `dispatchContextOf`. */
export interface DispatchContext<T, R> {
  readonly project: (value: T, context: AttemptContext) => ObservableInput<R>;
  readonly feedback: FeedbackSubject;
  /** The gate of attempts. The first attempt of a request has passed it already. */
  readonly gates: readonly Gate[];
  readonly retry: RetryPolicy;
  readonly classify: (error: unknown, body?: string) => Verdict;
  readonly answers: AnswerRules;
  readonly clock: Clock;
  readonly random: Random;
  readonly instrumentation: Instrumentation | undefined;
  /** Ends attempts that take too long; undefined: nothing does. */
  readonly timeouts: Timeouts | undefined;
  /** Where an inspector follows the requests. */
  readonly tap: Tap;
}

/**
 * The retries of all requests that share a policy have one budget.
 * @param isPaced whether the gate of attempts also waits out overloads
 */
export function retryPolicyOf(
  { maxAttempts, deadlineMs, failedAttempts }: RetryOptions,
  isPaced = false,
): RetryPolicy {
  return new RetryPolicy(
    maxAttempts ?? Number.POSITIVE_INFINITY,
    deadlineMs ?? Number.POSITIVE_INFINITY,
    isPaced,
    failedAttempts,
  );
}

/**
 * What ends attempts that take too long, for all that share it; undefined: nothing does.
 * @param others of the same clock, to be shared if their attempts have the same time
 */
export function attemptTimeoutsOf(
  { attemptTimeoutMs = DEFAULT_ATTEMPT_TIMEOUT_MS }: RetryOptions,
  clock: Clock,
  others?: Timeouts,
): Timeouts | undefined {
  if (attemptTimeoutMs === Number.POSITIVE_INFINITY) return undefined;
  if (attemptTimeoutMs === others?.timeoutMs) return others;
  // It keeps no process alive: what an attempt waits for does.
  return new Timeouts(attemptTimeoutMs, clock, false);
}

/** What sends requests, beside the options. */
export interface DispatchParts
  extends Pick<
    DispatchContext<never, unknown>,
    'feedback' | 'retry' | 'instrumentation' | 'timeouts'
  > {
  /** The gate of attempts. */
  readonly gate: Gate;
  /** Default: nothing is read of answers that went well, and every wait closes the backoff gate. */
  readonly answers?: AnswerRules;
}

const PLAIN_ANSWERS: AnswerRules = { readsAnswers: false, leastClosureMs: 0 };

/** What the executions of one subscription share. */
export function dispatchContextOf<T, O extends ProjectOutput>(
  project: Project<T, O>,
  { classify: custom, random = Math.random }: Pick<RetryOptions, 'classify' | 'random'>,
  { feedback, gate, retry, instrumentation, timeouts, answers = PLAIN_ANSWERS }: DispatchParts,
): DispatchContext<T, ObservedValueOf<O>> {
  return {
    // An O is an ObservableInput of its values, which TypeScript cannot derive for a generic O.
    project: project as DispatchContext<T, never>['project'],
    feedback,
    gates: [gate],
    retry,
    classify:
      custom === undefined
        ? classify
        : (error, body) => custom(error, body) ?? classify(error, body),
    answers,
    clock: feedback.clock,
    random,
    instrumentation,
    timeouts,
    tap: gate.tap,
  };
}
