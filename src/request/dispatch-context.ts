import type { ObservableInput } from 'rxjs';
import type { Tap } from '../model/inspection.ts';
import type { Instrumentation } from '../model/instrumentation.ts';
import type { RetryPolicy } from '../policies/retry.ts';
import type { Classifier } from '../providers/classify.ts';
import type { Gate } from '../queue/gate.ts';
import type { Clock, Random } from '../util/clock.ts';
import type { Timeouts } from '../util/timers.ts';
import type { AttemptContext } from './attempt-context.ts';
import type { FeedbackSubject } from './feedback-subject.ts';

/** How answers are taken in, which changes with what adapts. */
export interface AnswerRules {
  /** Whether successful answers are read for usage and limits. */
  readonly readsAnswers: boolean;
  /** The shortest wait named by an answer that closes the backoff gate, in ms. */
  readonly leastClosureMs: number;
}

/** What all executions of one subscription or limiter share. */
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
