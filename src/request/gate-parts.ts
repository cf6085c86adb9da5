import type { RemoteLimits } from '../fleet/shared-store.ts';
import type { IsFailure } from '../model/feedback.ts';
import type { Instrumentation } from '../model/instrumentation.ts';
import type { Emit } from '../model/policy-events.ts';
import type { RetryPolicy } from '../policies/retry.ts';
import type { Classifier } from '../providers/classify.ts';
import type { AdmissionCheck, WaitListener } from '../queue/gate-rules.ts';
import type { QueueRules } from '../queue/queue-rules.ts';
import type { SharedPolicy } from '../queue/shared-policy.ts';
import type { Clock, Random } from '../util/clock.ts';
import type { Timeouts } from '../util/timers.ts';
import type { FeedbackSubject } from './feedback-subject.ts';

/** The parts around the gate of a limiter or a stream. */
export interface RequestGateParts extends RequestGateExtras {
  readonly clock: Clock;
  readonly random: Random;
  /** The name of the limiter, group or stream; undefined if it has none. */
  readonly name: string | undefined;
  readonly instrumentation: Instrumentation | undefined;
  readonly feedback: FeedbackSubject;
  readonly isFailure: IsFailure | undefined;
  readonly queues: QueueRules;
  readonly retry: RetryPolicy;
  readonly classify: Classifier;
  /** Ends attempts that take too long. */
  readonly timeouts: Timeouts;
  /** Called with whether the rate adapts, when that has changed. */
  readonly setPaced: (isPaced: boolean) => void;
  /** The limits that it shares with other workers through a store. */
  readonly fleet: RemoteLimits | undefined;
}

/** Optional parts. */
export interface RequestGateExtras {
  /** The key of a limiter of a group. */
  readonly key?: string;
  /** Receives every change, in addition to the instrumentation. */
  readonly emit?: Emit;
  /** Limits that are shared with other gates. */
  readonly shared?: SharedPolicy;
  /** An object that all gates of one store have in common. */
  readonly peers?: object;
  readonly check?: AdmissionCheck;
  readonly listener?: WaitListener;
}
