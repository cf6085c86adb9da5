import { Observable, type OperatorFunction } from 'rxjs';
import type { Ticket } from '../model/ticket.ts';
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
import { watchGateOf } from '../request/operator-reading.ts';
import { type RequestInput, TicketFactory } from '../request/ticket-factory.ts';
import { checkKeys } from '../util/check.ts';

/**
 * Limits the number of requests in flight: from here until they are settled.
 *
 * In throttled mode the head of the queue also needs one of the throttled slots, or waits until the
 * mode ends. A raised limit admits waiters at once; under a lowered one the holders finish, and no
 * request is admitted until fewer are in flight. First come, first served.
 *
 * @throws RangeError or TypeError that names a wrong option
 * @example
 * prompts$.pipe(concurrencyLimit({ concurrency: 20 }), dispatch(send))
 */
export function concurrencyLimit<T>(
  options: ConcurrencyOptions & CommonOptions & GateSubscriberOptions = {},
): OperatorFunction<RequestInput<T>, Ticket<T>> {
  checkKeys('concurrencyLimit', options, [
    ...CONCURRENCY_KEYS,
    ...COMMON_KEYS,
    ...GATE_SUBSCRIBER_KEYS,
  ]);
  checkConcurrencyOptions(options);
  checkGateSubscriberOptions(options);
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
      source.subscribe(new GateSubscriber(out, gate, new TicketFactory<T>(around), options));
    });
}
