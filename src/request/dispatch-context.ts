import type { ObservableInput } from 'rxjs';
import type { RetryPolicy } from '../core/retry.ts';
import type { FeedbackSubject } from '../feedback/feedback-subject.ts';
import type { Clock, Random } from '../model/clock.ts';
import type { Verdict } from '../model/feedback.ts';
import type { Probe } from '../model/probe.ts';
import type { Tap } from '../model/tap.ts';
import type { Gate } from '../queue/gate.ts';
import type { AttemptContext } from './attempt-context.ts';
import type { AttemptTimeouts } from './attempt-timeouts.ts';

/** How answers are taken in, which changes with what adapts. */
export interface AnswerRules {
  /** Whether what went well is read for usage and limits. */
  readonly readsAnswers: boolean;
  /** The least wait, named by an answer, that closes the backoff gate, in ms. */
  readonly leastClosureMs: number;
}

/** How requests are sent, where no choice is left to the user. */
export interface DispatchRules {
  readonly retry: RetryPolicy;
  readonly classify: (error: unknown, body?: string) => Verdict;
  readonly answers: AnswerRules;
  readonly random: Random;
  readonly probe: Probe | undefined;
  /** Ends attempts that take too long; undefined: nothing does. */
  readonly timeouts: AttemptTimeouts | undefined;
}

/** How requests are sent: what all flights of one subscription or limiter share. */
export class DispatchContext<T, R> implements DispatchRules {
  readonly project: (value: T, context: AttemptContext) => ObservableInput<R>;
  readonly feedback: FeedbackSubject;
  /** What every attempt passes: the first has when the request comes here. */
  readonly gates: readonly Gate[];
  readonly retry: RetryPolicy;
  readonly classify: (error: unknown, body?: string) => Verdict;
  readonly answers: AnswerRules;
  readonly clock: Clock;
  readonly random: Random;
  readonly probe: Probe | undefined;
  readonly timeouts: AttemptTimeouts | undefined;
  /** Where an inspector follows the requests. */
  readonly tap: Tap;

  constructor(
    project: (value: T, context: AttemptContext) => ObservableInput<R>,
    feedback: FeedbackSubject,
    gate: Gate,
    rules: DispatchRules,
  ) {
    const { retry, classify, answers, random, probe, timeouts } = rules;
    this.project = project;
    this.feedback = feedback;
    this.gates = [gate];
    this.tap = gate.tap;
    this.retry = retry;
    this.classify = classify;
    this.answers = answers;
    this.clock = feedback.clock;
    this.random = random;
    this.probe = probe;
    this.timeouts = timeouts;
  }

  /** Whether what went well is read for usage: limits count it, or telemetry compares it with the estimate. */
  get readsUsage(): boolean {
    return this.probe !== undefined || this.answers.readsAnswers;
  }
}
