import type { OperatorFunction } from 'rxjs';
import type { Ticket } from '../model/ticket.ts';
import { BYTE_BUDGET_OPTIONS, byteBudgetPolicyOf } from '../policies/byte-budget-policy.ts';
import { checkOptions } from '../policies/option.ts';
import { followLimit, withoutStreams } from '../request/gate-opener.ts';
import type { ByteBudgetOptions } from '../request/gate-options.ts';
import { type PolicyOperatorOptions, policyOperator } from '../request/policy-operator.ts';
import type { RequestInput } from '../request/ticket-factory.ts';

/**
 * Lets requests pass while the bytes in flight do not exceed a budget. The last one may overdraw
 * it, so that a request larger than the whole budget can be sent at all. While it is overdrawn all
 * requests wait, also those of size 0. First come, first served.
 *
 * In throttled mode a request is charged `throttledByteFactor` times its size, and gives back what
 * it was charged.
 *
 * @throws RangeError or TypeError that names a wrong option
 * @example
 * prompts$.pipe(byteBudget({ maxBytes: 1_000_000 }), dispatch(send))
 */
export function byteBudget<T>(
  options: ByteBudgetOptions & PolicyOperatorOptions = {},
): OperatorFunction<RequestInput<T>, Ticket<T>> {
  return policyOperator(
    {
      name: 'byteBudget',
      kind: 'byteBudget',
      keys: Object.keys(BYTE_BUDGET_OPTIONS),
      limits: 'request',
      check: () => checkOptions(BYTE_BUDGET_OPTIONS, withoutStreams(options)),
      open: ({ feedback }) => {
        const policy = byteBudgetPolicyOf(withoutStreams(options), feedback?.gate.policy);
        return { policy, policies: { byteBudget: policy } };
      },
      follow: (out, gate) => {
        followLimit(out, options, 'maxBytes', (limit) => {
          gate.policy.maxBytes = limit;
          gate.drain();
        });
      },
    },
    options,
  );
}
