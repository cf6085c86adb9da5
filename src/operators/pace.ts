import type { OperatorFunction } from 'rxjs';
import { containedRandom, Pace, type PaceOptions } from '../core/pace.ts';
import { checkFunction, checkKeys } from '../model/check.ts';
import type { Random } from '../model/clock.ts';
import type { Ticket } from '../model/ticket.ts';
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

const KEYS = ['intervalMs', 'maxIntervalMs', 'jitter', 'random'] as const;

/**
 * Leaves at least an interval between two requests, and some jitter: 200 ms by default, and up to
 * half of that more (seed: 004). The pause is reserved as a request passes, so that those who wait
 * leave one by one, first come, first served.
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
  // What is wrong with the options is found by making what they are for.
  new Pace(options, random);
  const open = () => {
    const core = new Pace(options, containedRandom(random));
    return { core, read: () => ({ intervalMs: core.interval.ms }) };
  };
  return attemptOperator('pace', open, common, options);
}
