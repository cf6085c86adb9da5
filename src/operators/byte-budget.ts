import { Observable, type OperatorFunction } from 'rxjs';
import { byteBudgetOf } from '../core/byte-budget.ts';
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
  BYTE_BUDGET_KEYS,
  type ByteBudgetOptions,
  checkByteBudgetOptions,
  followMaxBytes,
  numberIn,
} from '../request/hold-options.ts';
import { watchOperator } from '../request/operator-reading.ts';
import { type RequestInput, TicketFactory } from '../request/ticket-factory.ts';

/**
 * Lets requests pass while the bytes in flight do not exceed a budget; the one that passes last may
 * overdraw it, so that a request larger than the whole budget can be sent at all. While it is
 * overdrawn everyone waits, requests of no size too. First come, first served.
 *
 * In throttled mode a request is charged `throttledByteFactor` times its size. What is given back
 * is what was charged.
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
      const { clock, feedback, probe } = around;
      const { maxBytes, ...rest } = options;
      const plain = { ...rest, ...numberIn({ maxBytes }) };
      const gate = new Gate('byteBudget', byteBudgetOf(plain, feedback?.modeState), clock, probe);
      watchOperator(out, around, () => ({
        waiting: gate.waitingByKind,
        bytes: { used: gate.core.used, limit: gate.core.maxBytes },
      }));
      followMaxBytes(out, options, (limit) => {
        gate.core.maxBytes = limit;
        gate.drain();
      });
      // A wrong limit may have come at once.
      if (out.closed) return;
      source.subscribe(new GateSubscriber(out, gate, new TicketFactory<T>(around), options));
    });
}
