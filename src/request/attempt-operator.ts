import { Observable, type OperatorFunction } from 'rxjs';
import type { GaugeSnapshot } from '../model/gauge-snapshot.ts';
import type { GateKind } from '../model/outcome.ts';
import type { Ticket } from '../model/ticket.ts';
import type { Policy } from '../policies/policy.ts';
import { Gate } from '../queue/gate.ts';
import type { CheckedOptions, ResolvedOptions } from './common-options.ts';
import { GateSubscriber, type GateSubscriberOptions } from './gate-subscriber.ts';
import { watchOperator } from './operator-reading.ts';
import { type RequestInput, type RequestOptions, TicketFactory } from './ticket-factory.ts';

/** A policy that one subscription has for itself. */
export interface OpenedPolicy {
  readonly policy: Policy;
  /** What gauges show of it, beside who waits. */
  read(now: number): Partial<GaugeSnapshot>;
}

/** A gate that every attempt passes, as an operator: each subscription has a policy of its own. */
export function attemptOperator<T>(
  kind: GateKind,
  open: (around: ResolvedOptions) => OpenedPolicy,
  common: CheckedOptions,
  options: GateSubscriberOptions & RequestOptions<T>,
): OperatorFunction<RequestInput<T>, Ticket<T>> {
  return (source) =>
    new Observable((out) => {
      const around = common.observed();
      const { clock, instrumentation } = around;
      const { policy, read } = open(around);
      const gate = new Gate(kind, policy, clock, instrumentation);
      watchOperator(out, around, () => ({
        waiting: gate.waitingByKind,
        ...read(clock.now()),
      }));
      source.subscribe(
        new GateSubscriber(out, gate, new TicketFactory<T>(around, options), options, true),
      );
    });
}
