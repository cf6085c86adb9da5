import { Observable, type OperatorFunction } from 'rxjs';
import type { Ticket } from '../model/ticket.ts';
import type { FeedbackSubject } from '../request/feedback-subject.ts';
import {
  COMMON_KEYS,
  type CommonOptions,
  resolveCommonOptions,
  watchOperator,
} from '../request/gate-options.ts';
import {
  checkGateSubscriberOptions,
  GATE_SUBSCRIBER_KEYS,
  GateSubscriber,
  type GateSubscriberOptions,
} from '../request/gate-subscriber.ts';
import { type RequestInput, TicketFactory } from '../request/ticket-factory.ts';
import { checkKeys } from '../util/check.ts';

/**
 * Holds requests back while a backoff is in force; they keep their leases. When it is over, one
 * request passes as a probe, and all others after it succeeded (with `reopen: 'all'` of the
 * feedback all pass at once).
 *
 * All gates and retries that share a `feedback` wait in one queue, first come, first served.
 *
 * @throws TypeError if `feedback` is missing: nothing could ever close the gate
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
      const observed = common.withTelemetry();
      watchOperator(out, observed);
      const factory = new TicketFactory<T>(observed);
      source.subscribe(new GateSubscriber(out, feedback.gate, factory, options, true));
    });
}
