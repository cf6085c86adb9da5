import type { OperatorFunction } from 'rxjs';
import type { Ticket } from '../model/ticket.ts';
import { circuitOf } from '../policies/circuit-breaker-policy.ts';
import { attemptOperator } from '../request/attempt-operator.ts';
import type { AttemptOptions, CircuitOptions } from '../request/attempt-options.ts';
import {
  COMMON_KEYS,
  type CommonOptions,
  type ResolvedOptions,
  resolveCommonOptions,
} from '../request/common-options.ts';
import {
  checkGateSubscriberOptions,
  GATE_SUBSCRIBER_KEYS,
  type GateSubscriberOptions,
} from '../request/gate-subscriber.ts';
import type { RequestInput } from '../request/ticket-factory.ts';
import { checkKeys } from '../util/check.ts';

const KEYS = [
  'consecutiveFailures',
  'failureRatio',
  'windowMs',
  'leastRequests',
  'openMs',
  'halfOpenProbes',
  'onOpen',
  'isFailure',
] as const;

/**
 * Stops sending after consecutive failures (10), or by their share of the last requests
 * (`failureRatio`), for a while (30 s); then lets one request pass as a probe, and all others after
 * it succeeded. Meanwhile requests wait, or fail with a `CircuitOpenError` (`onOpen: 'fail'`). An
 * error that means a used-up quota, an unpaid account or a wrong key opens the circuit at once.
 *
 * It counts requests when `dispatch` settles them. A cancelled request, or one that failed because
 * of its content, does not count.
 *
 * @throws RangeError or TypeError that names a wrong option
 * @example
 * prompts$.pipe(circuitBreaker({ consecutiveFailures: 5 }), dispatch(send, { outcomes: true }))
 */
export function circuitBreaker<T>(
  options: CircuitOptions &
    Pick<AttemptOptions, 'isFailure'> &
    CommonOptions &
    GateSubscriberOptions = {},
): OperatorFunction<RequestInput<T>, Ticket<T>> {
  checkKeys('circuitBreaker', options, [...KEYS, ...COMMON_KEYS, ...GATE_SUBSCRIBER_KEYS]);
  checkGateSubscriberOptions(options);
  const common = resolveCommonOptions(options);
  const open = ({ instrumentation }: ResolvedOptions) => {
    const policy = circuitOf(options, options.isFailure, (fact) =>
      instrumentation?.changed?.(fact),
    );
    return { policy, policies: { circuitBreaker: policy } };
  };
  // Construct once, so that wrong options throw here.
  open(common);
  return attemptOperator('circuitBreaker', open, common, options);
}
