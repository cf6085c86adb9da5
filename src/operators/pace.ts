import type { OperatorFunction } from 'rxjs';
import type { Ticket } from '../model/ticket.ts';
import { containedRandom, Pace, type PaceOptions } from '../policies/pace.ts';
import { type PolicyOperatorOptions, policyOperator } from '../request/policy-operator.ts';
import type { RequestInput } from '../request/ticket-factory.ts';
import { checkFunction, checkObject } from '../util/check.ts';
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
  options: PaceOptions & { readonly random?: Random } & PolicyOperatorOptions = {},
): OperatorFunction<RequestInput<T>, Ticket<T>> {
  checkObject('pace', options);
  const { random = Math.random } = options;
  return policyOperator(
    {
      name: 'pace',
      kind: 'pace',
      keys: KEYS,
      limits: 'attempt',
      check: () => {
        checkFunction('random', random);
      },
      open: () => {
        const policy = new Pace(options, containedRandom(random));
        return { policy, policies: { pace: policy } };
      },
    },
    options,
  );
}
