import type { OperatorFunction } from 'rxjs';
import type { Ticket } from '../model/ticket.ts';
import { containedRandom, Pace, type PaceOptions } from '../policies/pace.ts';
import { attemptOperator } from '../request/attempt-operator.ts';
import {
  COMMON_KEYS,
  type CommonOptions,
  resolveCommonOptions,
} from '../request/common-options.ts';
import {
  checkGateSubscriberOptions,
  GATE_SUBSCRIBER_KEYS,
  type GateSubscriberOptions,
} from '../request/gate-subscriber.ts';
import type { RequestInput } from '../request/ticket-factory.ts';
import { checkFunction, checkKeys } from '../util/check.ts';
import type { Random } from '../util/clock.ts';

const KEYS = ['intervalMs', 'maxIntervalMs', 'jitter', 'random'] as const;

/**
 * Keeps an interval between two requests: 200 ms by default, plus a jitter of up to half of that.
 * The interval is reserved when a request passes, so that waiting requests leave one by one, first
 * come, first served.
 *
 * @throws RangeError or TypeError that names a wrong option
 * @example
 * prompts$.pipe(pace({ intervalMs: 100, jitter: 0 }), dispatch(send))
 */
export function pace<T>(
  options: PaceOptions & { readonly random?: Random } & CommonOptions & GateSubscriberOptions = {},
): OperatorFunction<RequestInput<T>, Ticket<T>> {
  checkKeys('pace', options, [...KEYS, ...COMMON_KEYS, ...GATE_SUBSCRIBER_KEYS]);
  const { random = Math.random } = options;
  checkFunction('random', random);
  checkGateSubscriberOptions(options);
  const common = resolveCommonOptions(options);
  // Construct once, so that wrong options throw here.
  new Pace(options, random);
  const open = () => {
    const policy = new Pace(options, containedRandom(random));
    return { policy, policies: { pace: policy } };
  };
  return attemptOperator('pace', open, common, options);
}
