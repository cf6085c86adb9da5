import { FeedbackSubject } from '../feedback/feedback-subject.ts';
import { show } from '../model/check.ts';
import { type Clock, checkClock } from '../model/clock.ts';
import { joinProbes } from '../model/join-probes.ts';
import { checkProbe, contain, type Probe } from '../model/probe.ts';
import { systemClock } from '../queue/system-clock.ts';
import { checkWatched, telemetryProbe, type Watched } from '../telemetry/telemetry.ts';

/** Options of everything whose work can be observed. */
export interface ObservedOptions extends Watched {
  /** Told of each fact, beside metrics and spans. Default: none. */
  readonly probe?: Probe;
}

/** What every gate and `dispatch` take. */
export interface CommonOptions extends ObservedOptions {
  /** Whose backoff and mode apply. Operators that share one slow down together. */
  readonly feedback?: FeedbackSubject;
  /** Default: the clock of `feedback`, else real time. */
  readonly clock?: Clock;
}

export const OBSERVED_KEYS = ['probe', 'name', 'telemetry'] as const;
export const COMMON_KEYS = ['feedback', 'clock', ...OBSERVED_KEYS] as const;

/** The same, checked and completed. */
export interface ResolvedOptions {
  readonly feedback: FeedbackSubject | undefined;
  readonly clock: Clock;
  readonly probe: Probe | undefined;
}

/** Common options that were checked. Their `probe` is the user's alone. */
export interface CheckedOptions extends ResolvedOptions {
  /** The same with metrics and spans, for the SDK that is registered now. */
  observed(): ResolvedOptions;
}

/** @throws TypeError for a `feedback` that is none, or that has another clock */
export function resolveCommonOptions(options: CommonOptions): CheckedOptions {
  const { feedback, clock, probe } = options;
  if (feedback !== undefined && !(feedback instanceof FeedbackSubject)) {
    throw new TypeError(`\`feedback\` must be a FeedbackSubject, got ${show(feedback)}`);
  }
  checkClock(clock);
  const probeNow = probeResolver(options);
  if (feedback !== undefined && clock !== undefined && feedback.clock !== clock) {
    throw new TypeError('`clock` must be the clock of `feedback`; leave it out');
  }
  const resolved = { feedback, clock: feedback?.clock ?? clock ?? systemClock };
  return {
    ...resolved,
    probe: contain(probe),
    observed: () => ({ ...resolved, probe: probeNow() }),
  };
}

/**
 * Checks the options that say how something is observed. Returns a function that makes the probe for
 * the SDK that is registered when it is called; undefined: nothing observes.
 *
 * @throws TypeError that names a wrong option
 */
export function probeResolver({
  probe,
  name,
  telemetry,
}: ObservedOptions): () => Probe | undefined {
  checkProbe(probe);
  const watched = {
    ...(name !== undefined && { name }),
    ...(telemetry !== undefined && { telemetry }),
  };
  checkWatched(watched);
  const own = contain(probe);
  return () => joinProbes(telemetryProbe(watched), own);
}
