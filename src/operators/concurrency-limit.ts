import type { OperatorFunction } from 'rxjs';
import type { Ticket } from '../model/ticket.ts';
import { CONCURRENCY_OPTIONS, concurrencyPolicyOf } from '../policies/concurrency-policy.ts';
import { checkOptions } from '../policies/option.ts';
import { followLimit, withoutStreams } from '../request/gate-opener.ts';
import type { ConcurrencyOptions } from '../request/gate-options.ts';
import { type PolicyOperatorOptions, policyOperator } from '../request/policy-operator.ts';
import { checkRequestOptions, type RequestOptions } from '../request/request-options.ts';
import type { RequestInput } from '../request/ticket-factory.ts';
import { checkObject } from '../util/check.ts';

/** Options of `concurrencyLimit`. */
export interface ConcurrencyLimitOptions<T>
  extends ConcurrencyOptions,
    PolicyOperatorOptions,
    Pick<RequestOptions<T>, 'weight'> {}

/**
 * Limits the number of requests in flight: from here until they are settled.
 *
 * In throttled mode the head of the queue also needs one of the throttled slots, or waits until the
 * mode ends. A raised limit admits waiters at once; under a lowered one the holders finish, and no
 * request is admitted until fewer are in flight. First come, first served.
 *
 * A request takes `weight` slots (1), all or none, also of the throttled ones; one that weighs more
 * than the limit fails with a `CostAboveLimitError`. An error of `weight` errors the stream.
 *
 * @throws RangeError or TypeError that names a wrong option
 * @example
 * prompts$.pipe(concurrencyLimit({ concurrency: 20 }), dispatch(send))
 */
export function concurrencyLimit<T>(
  options: ConcurrencyLimitOptions<T> = {},
): OperatorFunction<RequestInput<T>, Ticket<T>> {
  checkObject('concurrencyLimit', options);
  const { weight } = options;
  return policyOperator(
    {
      name: 'concurrencyLimit',
      kind: 'concurrency',
      keys: [...Object.keys(CONCURRENCY_OPTIONS), 'weight'],
      limits: 'request',
      check: () => {
        checkOptions(CONCURRENCY_OPTIONS, withoutStreams(options));
        checkRequestOptions<T>(weight === undefined ? {} : { weight });
      },
      open: ({ feedback }) => {
        const policy = concurrencyPolicyOf(withoutStreams(options), feedback?.gate.policy);
        return { policy, policies: { concurrency: policy } };
      },
      follow: (out, gate) => {
        followLimit(out, options, 'concurrency', (limit) => {
          gate.policy.limit = limit;
          gate.drain();
        });
      },
    },
    options,
  );
}
