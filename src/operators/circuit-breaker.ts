import type { OperatorFunction } from 'rxjs';
import type { Ticket } from '../model/ticket.ts';
import { circuitOf } from '../policies/circuit-breaker-policy.ts';
import type { AttemptOptions, CircuitOptions } from '../request/gate-options.ts';
import { type PolicyOperatorOptions, policyOperator } from '../request/policy-operator.ts';
import type { RequestInput } from '../request/ticket-factory.ts';

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
 * error that means a used-up quota, an unpaid account or a wrong key opens the circuit at once. After
 * a wrong key requests fail by default.
 *
 * It counts requests when `dispatch` settles them. A cancelled request, or one that failed because
 * of its content, does not count.
 *
 * @throws RangeError or TypeError that names a wrong option
 * @example
 * prompts$.pipe(circuitBreaker({ consecutiveFailures: 5 }), dispatch(send, { outcomes: true }))
 */
export function circuitBreaker<T>(
  options: CircuitOptions & Pick<AttemptOptions, 'isFailure'> & PolicyOperatorOptions = {},
): OperatorFunction<RequestInput<T>, Ticket<T>> {
  return policyOperator(
    {
      name: 'circuitBreaker',
      kind: 'circuitBreaker',
      keys: KEYS,
      limits: 'attempt',
      check: () => {},
      open: ({ instrumentation }) => {
        const policy = circuitOf(options, options.isFailure, (fact) =>
          instrumentation?.changed?.(fact),
        );
        return { policy, policies: { circuitBreaker: policy } };
      },
    },
    options,
  );
}
