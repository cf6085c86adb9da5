import type { Subscriber } from 'rxjs';
import type { GaugeSnapshot } from '../model/gauge.ts';
import { checkInstrumentation, contain, type Instrumentation } from '../model/instrumentation.ts';
import { type InstrumentationOptions, instrumentationResolver } from '../telemetry/telemetry.ts';
import { show } from '../util/check.ts';
import { type Clock, checkClock, systemClock } from '../util/clock.ts';
import { FeedbackSubject } from './feedback-subject.ts';

/** Options of everything whose work can be observed. */
export interface ObservedOptions extends InstrumentationOptions {
  /** Told of each fact, beside metrics and spans. Default: none. */
  readonly instrumentation?: Instrumentation;
}

/** Options of every gate and of `dispatch`. */
export interface CommonOptions extends ObservedOptions {
  /** The feedback whose backoff and mode apply. Operators that share one slow down together. */
  readonly feedback?: FeedbackSubject;
  /** Default: the clock of `feedback`, else real time. */
  readonly clock?: Clock;
}

export const OBSERVED_KEYS = ['instrumentation', 'name', 'telemetry'] as const;
export const COMMON_KEYS = ['feedback', 'clock', ...OBSERVED_KEYS] as const;

/** The same, checked and with defaults. */
export interface ResolvedOptions {
  readonly feedback: FeedbackSubject | undefined;
  readonly clock: Clock;
  readonly instrumentation: Instrumentation | undefined;
}

/** Common options that were checked. Their `instrumentation` is the user's alone. */
export interface CheckedOptions extends ResolvedOptions {
  /** The user's beside metrics and spans, for the SDK that is registered when this is called. */
  readonly instrumentationNow: () => Instrumentation | undefined;
}

/** @throws TypeError that names a wrong option, also for a `feedback` that has another clock */
export function resolveCommonOptions(options: CommonOptions): CheckedOptions {
  const { feedback, clock } = options;
  if (feedback !== undefined && !(feedback instanceof FeedbackSubject)) {
    throw new TypeError(`\`feedback\` must be a FeedbackSubject, got ${show(feedback)}`);
  }
  checkClock(clock);
  checkInstrumentation(options.instrumentation);
  const instrumentation = contain(options.instrumentation);
  const instrumentationNow = instrumentationResolver(options, instrumentation);
  if (feedback !== undefined && clock !== undefined && feedback.clock !== clock) {
    throw new TypeError('`clock` must be the clock of `feedback`; leave it out');
  }
  const resolvedClock = feedback?.clock ?? clock ?? systemClock;
  return { feedback, clock: resolvedClock, instrumentation, instrumentationNow };
}

/**
 * Shows the state of an operator in gauges, and that of the feedback it was given, while `out` is
 * subscribed.
 */
export function watchOperator(
  out: Subscriber<never>,
  { instrumentation, feedback }: ResolvedOptions,
  read?: () => GaugeSnapshot,
): void {
  if (instrumentation === undefined) return;
  if (feedback !== undefined) out.add(feedback.provider.users.show(instrumentation));
  if (read !== undefined) out.add(instrumentation.opened?.(read));
}
