import { map, Observable, type OperatorFunction } from 'rxjs';
import { isTicket, type Ticket } from '../model/ticket.ts';
import { concurrencyPolicyOf } from '../policies/concurrency-policy.ts';
import { Gate } from '../queue/gate.ts';
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
import {
  CONCURRENCY_KEYS,
  type ConcurrencyOptions,
  checkConcurrencyOptions,
  followConcurrency,
  numberIn,
} from '../request/hold-options.ts';
import {
  checkRequestOptions,
  type RequestInput,
  type RequestOptions,
  TicketFactory,
  weightOf,
} from '../request/ticket-factory.ts';
import { watchGateOf } from '../request/watch-gates.ts';
import { checkKeys } from '../util/check.ts';

export interface ConcurrencyLimitOptions<T>
  extends ConcurrencyOptions,
    CommonOptions,
    GateSubscriberOptions,
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
  checkKeys('concurrencyLimit', options, [
    ...CONCURRENCY_KEYS,
    ...COMMON_KEYS,
    ...GATE_SUBSCRIBER_KEYS,
    'weight',
  ]);
  checkConcurrencyOptions(options);
  checkGateSubscriberOptions(options);
  const { weight } = options;
  checkRequestOptions<T>(weight === undefined ? {} : { weight });
  const common = resolveCommonOptions(options);
  return (source) =>
    new Observable((out) => {
      const around = common.observed();
      const { clock, feedback, instrumentation } = around;
      const { concurrency, ...rest } = options;
      const plain = { ...rest, ...numberIn({ concurrency }) };
      const gate = new Gate(
        'concurrency',
        concurrencyPolicyOf(plain, feedback?.modeState),
        clock,
        instrumentation,
      );
      watchGateOf(out, around, gate, { concurrency: gate.policy });
      followConcurrency(out, options, (limit) => {
        gate.policy.limit = limit;
        gate.drain();
      });
      // The stream of limits may have emitted a wrong one at once.
      if (out.closed) return;
      const factory = new TicketFactory<T>(around, weight === undefined ? {} : { weight });
      const weighed = weight === undefined ? source : source.pipe(map(weigher(weight)));
      weighed.subscribe(new GateSubscriber(out, gate, factory, options));
    });
}

/** Weighs a request that has its ticket already: an earlier gate has made it. */
function weigher<T>(weight: (value: T) => number): (input: RequestInput<T>) => RequestInput<T> {
  return (input) => {
    if (isTicket(input)) input.weight = weightOf(weight, input.value as T);
    return input;
  };
}
