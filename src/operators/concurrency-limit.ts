import { Observable, type OperatorFunction } from 'rxjs';
import { slotsOf } from '../core/slots.ts';
import { checkKeys } from '../model/check.ts';
import type { Ticket } from '../model/ticket.ts';
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
import { slotsReading, watchOperator } from '../request/operator-reading.ts';
import { type RequestInput, TicketFactory } from '../request/ticket-factory.ts';

/**
 * Lets a number of requests be in flight at a time: from here until they are settled.
 *
 * A request that comes to the head of the queue in throttled mode needs one of the throttled slots
 * too, or waits until the mode ends. Raising the limit admits waiters at once; lowering it lets
 * the holders finish and admits nobody until fewer are in flight. First come, first served.
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
      const { clock, feedback, probe } = around;
      const { concurrency, ...rest } = options;
      const plain = { ...rest, ...numberIn({ concurrency }) };
      const gate = new Gate('concurrency', slotsOf(plain, feedback?.modeState), clock, probe);
      watchOperator(out, around, () => ({
        waiting: gate.waitingByKind,
        slots: slotsReading(gate.core, feedback),
      }));
      followConcurrency(out, options, (limit) => {
        gate.core.limit = limit;
        gate.drain();
      });
      // A wrong limit may have come at once.
      if (out.closed) return;
      source.subscribe(new GateSubscriber(out, gate, new TicketFactory<T>(around), options));
    });
}
