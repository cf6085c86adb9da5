import type { Subscriber } from 'rxjs';
import type { GaugeSnapshot } from '../model/gauge-snapshot.ts';
import type { ConcurrencyPolicy } from '../policies/concurrency-policy.ts';
import type { RateLimitPolicy } from '../policies/rate-limit-policy.ts';
import type { ResolvedOptions } from './common-options.ts';
import type { FeedbackSubject } from './feedback-subject.ts';

/**
 * Shows the state of an operator in gauges, and that of the feedback it was given, while `out` is
 * subscribed.
 */
export function watchOperator(
  out: Subscriber<never>,
  { instrumentation: probe, feedback }: ResolvedOptions,
  read?: () => GaugeSnapshot,
): void {
  if (probe === undefined) return;
  if (feedback !== undefined) out.add(feedback.show(probe));
  if (read !== undefined) out.add(probe.opened?.(read));
}

/** Throttled slots are there only where a feedback can begin throttled mode. */
export function slotsReading(
  { limit, throttledLimit }: ConcurrencyPolicy,
  feedback: FeedbackSubject | undefined,
): GaugeSnapshot['slots'] {
  return feedback === undefined ? { limit } : { limit, throttledLimit };
}

/** The use of each limit, and the requests a second that they allow. */
export function rateReading({ limits }: RateLimitPolicy, now: number): Partial<GaugeSnapshot> {
  const limit = limits.perSecond('requests');
  return { limits: limits.usage(now), rates: limit === undefined ? undefined : { limit } };
}
