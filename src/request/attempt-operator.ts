import { Observable, type OperatorFunction } from 'rxjs';
import type { Core } from '../core/core.ts';
import type { GateKind } from '../model/outcome.ts';
import type { Ticket } from '../model/ticket.ts';
import { Gate } from '../queue/gate.ts';
import type { ResolvedOptions } from './common-options.ts';
import { GateSubscriber, type GateSubscriberOptions } from './gate-subscriber.ts';
import { type RequestInput, type RequestOptions, TicketFactory } from './ticket-factory.ts';

/** A gate that every attempt passes, as an operator: each subscription has a core of its own. */
export function attemptOperator<T>(
  kind: GateKind,
  newCore: (now: number) => Core,
  around: ResolvedOptions,
  options: GateSubscriberOptions & RequestOptions<T>,
): OperatorFunction<RequestInput<T>, Ticket<T>> {
  return (source) =>
    new Observable((out) => {
      const { clock, probe } = around;
      const gate = new Gate(kind, newCore(clock.now()), clock, probe);
      source.subscribe(
        new GateSubscriber(out, gate, new TicketFactory<T>(around, options), options, true),
      );
    });
}
