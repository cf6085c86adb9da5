import { FeedbackSubject } from '../feedback/feedback-subject.ts';
import { show } from '../model/check.ts';
import { type Clock, checkClock } from '../model/clock.ts';
import { checkProbe, contain, type Probe } from '../model/probe.ts';
import { systemClock } from '../queue/system-clock.ts';

/** What every gate and `dispatch` take. */
export interface CommonOptions {
  /** Whose backoff and mode apply. Operators that share one slow down together. */
  readonly feedback?: FeedbackSubject;
  /** Default: the clock of `feedback`, else real time. */
  readonly clock?: Clock;
  /** Told what happens. Default: nobody. */
  readonly probe?: Probe;
}

export const COMMON_KEYS = ['feedback', 'clock', 'probe'] as const;

/** The same, checked and completed. */
export interface ResolvedOptions {
  readonly feedback: FeedbackSubject | undefined;
  readonly clock: Clock;
  readonly probe: Probe | undefined;
}

/** @throws TypeError for a `feedback` that is none, or that has another clock */
export function resolveCommonOptions({ feedback, clock, probe }: CommonOptions): ResolvedOptions {
  if (feedback !== undefined && !(feedback instanceof FeedbackSubject)) {
    throw new TypeError(`\`feedback\` must be a FeedbackSubject, got ${show(feedback)}`);
  }
  checkClock(clock);
  checkProbe(probe);
  if (feedback !== undefined && clock !== undefined && feedback.clock !== clock) {
    throw new TypeError('`clock` must be the clock of `feedback`; leave it out');
  }
  return { feedback, clock: feedback?.clock ?? clock ?? systemClock, probe: contain(probe) };
}
