import { Observable, type OperatorFunction } from 'rxjs';
import type { Ticket } from '../model/ticket.ts';
import { byteBudgetPolicyOf } from '../policies/byte-budget-policy.ts';
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
  BYTE_BUDGET_KEYS,
  type ByteBudgetOptions,
  checkByteBudgetOptions,
  followMaxBytes,
  numberIn,
} from '../request/hold-options.ts';
import { type RequestInput, TicketFactory } from '../request/ticket-factory.ts';
import { watchGateOf } from '../request/watch-gates.ts';
import { checkKeys } from '../util/check.ts';

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
  options: ByteBudgetOptions & CommonOptions & GateSubscriberOptions = {},
): OperatorFunction<RequestInput<T>, Ticket<T>> {
  checkKeys('byteBudget', options, [...BYTE_BUDGET_KEYS, ...COMMON_KEYS, ...GATE_SUBSCRIBER_KEYS]);
  checkByteBudgetOptions(options);
  checkGateSubscriberOptions(options);
  const common = resolveCommonOptions(options);
  return (source) =>
    new Observable((out) => {
      const around = common.observed();
      const { clock, feedback, instrumentation } = around;
      const { maxBytes, ...rest } = options;
      const plain = { ...rest, ...numberIn({ maxBytes }) };
      const gate = new Gate(
        'byteBudget',
        byteBudgetPolicyOf(plain, feedback?.modeState),
        clock,
        instrumentation,
      );
      watchGateOf(out, around, gate, { byteBudget: gate.policy });
      followMaxBytes(out, options, (limit) => {
        gate.policy.maxBytes = limit;
        gate.drain();
      });
      // The stream of limits may have emitted a wrong one at once.
      if (out.closed) return;
      source.subscribe(new GateSubscriber(out, gate, new TicketFactory<T>(around), options));
    });
}
