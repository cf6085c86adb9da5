import type { OperatorFunction } from 'rxjs';
import { circuitOf } from '../core/circuit-core.ts';
import { checkKeys } from '../model/check.ts';
import type { Ticket } from '../model/ticket.ts';
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
 * Stops sending after many failures in a row (10), or by their part of the last requests
 * (`failureRatio`), for a while (30 s); then lets a probe through,
 * and opens the way when that goes well (seed: 004). Meanwhile requests fail with a
 * `CircuitOpenError`, or wait (`onOpen: 'wait'`). An error that says that the quota is used up, that
 * nobody has paid or that the key is wrong stops everything at once.
 *
 * It learns how requests end as `dispatch` settles them. A request that is cancelled, or fails for
 * what is in it, says nothing.
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
  const open = ({ probe }: ResolvedOptions) => {
    const core = circuitOf(options, options.isFailure, (fact) => probe?.changed?.(fact));
    return { core, read: (now: number) => ({ circuit: core.snapshot(now).state }) };
  };
  // What is wrong with the options is found by making what they are for.
  open(common);
  return attemptOperator('circuitBreaker', open, common, options);
}
