import type { Subscriber } from 'rxjs';
import type { RateCore } from '../core/rate-core.ts';
import type { Slots } from '../core/slots.ts';
import type { FeedbackSubject } from '../feedback/feedback-subject.ts';
import type { Reading } from '../model/reading.ts';
import type { ResolvedOptions } from './common-options.ts';

/**
 * Shows the state of an operator in gauges, and that of the feedback it was given, while `out` is
 * subscribed.
 */
export function watchOperator(
  out: Subscriber<never>,
  { probe, feedback }: ResolvedOptions,
  read?: () => Reading,
): void {
  if (probe === undefined) return;
  if (feedback !== undefined) out.add(feedback.show(probe));
  if (read !== undefined) out.add(probe.opened?.(read));
}

/** Throttled slots are there only where a feedback can begin throttled mode. */
export function slotsReading(
  { limit, throttledLimit }: Slots,
  feedback: FeedbackSubject | undefined,
): Reading['slots'] {
  return feedback === undefined ? { limit } : { limit, throttledLimit };
}

/** The use of each limit, and the requests a second that they allow. */
export function rateReading({ limits }: RateCore, now: number): Partial<Reading> {
  const limit = limits.perSecond('requests');
  return { limits: limits.usage(now), rates: limit === undefined ? undefined : { limit } };
}
