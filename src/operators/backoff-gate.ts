import { Observable, type OperatorFunction } from 'rxjs';
import type { FeedbackSubject } from '../feedback/feedback-subject.ts';
import { checkKeys } from '../model/check.ts';
import type { Ticket } from '../model/ticket.ts';
import {
  COMMON_KEYS,
  type CommonOptions,
  resolveCommonOptions,
} from '../request/common-options.ts';
import {
  checkGateSubscriberOptions,
  GATE_SUBSCRIBER_KEYS,
  GateSubscriber,
  type GateSubscriberOptions,
} from '../request/gate-subscriber.ts';
import { watchOperator } from '../request/operator-reading.ts';
import { type RequestInput, TicketFactory } from '../request/ticket-factory.ts';

/**
 * Holds requests back while a backoff is in force; they keep the leases that they have. When it is
 * over one probe passes, and when that goes well everyone (`reopen: 'all'` of the feedback lets
 * everyone pass at once).
 *
 * All gates and retries that share a `feedback` wait in one queue, first come, first served.
 *
 * @throws TypeError where `feedback` is missing: nothing could ever close the gate
 * @example
 * const feedback = new FeedbackSubject();
 * prompts$.pipe(backoffGate({ feedback }), dispatch(send, { feedback }))
 */
export function backoffGate<T>(
  options: CommonOptions & GateSubscriberOptions & { readonly feedback: FeedbackSubject },
): OperatorFunction<RequestInput<T>, Ticket<T>> {
  checkKeys('backoffGate', options, [...COMMON_KEYS, ...GATE_SUBSCRIBER_KEYS]);
  checkGateSubscriberOptions(options);
  const common = resolveCommonOptions(options);
  const { feedback } = common;
  if (feedback === undefined) {
    throw new TypeError('`feedback` must be a FeedbackSubject, got undefined');
  }
  return (source) =>
    new Observable((out) => {
      const around = common.observed();
      watchOperator(out, around);
      source.subscribe(
        new GateSubscriber(out, feedback.gate, new TicketFactory<T>(around), options),
      );
    });
}
