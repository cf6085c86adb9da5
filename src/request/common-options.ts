import type { Subscriber } from 'rxjs';
import type { GaugeSnapshot } from '../model/gauge-snapshot.ts';
import { checkInstrumentation, contain, type Instrumentation } from '../model/instrumentation.ts';
import { joinInstrumentations } from '../model/join-instrumentations.ts';
import { systemClock } from '../queue/system-clock.ts';
import {
  checkInstrumentationOptions,
  type InstrumentationOptions,
  telemetryInstrumentation,
} from '../telemetry/telemetry.ts';
import { show } from '../util/check.ts';
import { type Clock, checkClock } from '../util/clock.ts';
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
  /** The same with metrics and spans, for the SDK that is registered now. */
  observed(): ResolvedOptions;
}

/** @throws TypeError for a `feedback` that is none, or that has another clock */
export function resolveCommonOptions(options: CommonOptions): CheckedOptions {
  const { feedback, clock, instrumentation } = options;
  if (feedback !== undefined && !(feedback instanceof FeedbackSubject)) {
    throw new TypeError(`\`feedback\` must be a FeedbackSubject, got ${show(feedback)}`);
  }
  checkClock(clock);
  const instrumentationNow = instrumentationResolver(options);
  if (feedback !== undefined && clock !== undefined && feedback.clock !== clock) {
    throw new TypeError('`clock` must be the clock of `feedback`; leave it out');
  }
  const resolved = { feedback, clock: feedback?.clock ?? clock ?? systemClock };
  return {
    ...resolved,
    instrumentation: contain(instrumentation),
    observed: () => ({ ...resolved, instrumentation: instrumentationNow() }),
  };
}

/**
 * Checks the options that say how something is observed. Returns a function that makes the instrumentation for
 * the SDK that is registered when it is called; undefined: nothing observes.
 *
 * @throws TypeError that names a wrong option
 */
export function instrumentationResolver({
  instrumentation,
  name,
  telemetry,
}: ObservedOptions): () => Instrumentation | undefined {
  checkInstrumentation(instrumentation);
  const watched = {
    ...(name !== undefined && { name }),
    ...(telemetry !== undefined && { telemetry }),
  };
  checkInstrumentationOptions(watched);
  const own = contain(instrumentation);
  return () => joinInstrumentations(telemetryInstrumentation(watched), own);
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
