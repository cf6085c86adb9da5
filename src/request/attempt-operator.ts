import { Observable, type OperatorFunction } from 'rxjs';
import type { GateKind } from '../model/outcome.ts';
import type { Ticket } from '../model/ticket.ts';
import type { Policies } from '../policies/policies.ts';
import type { Policy } from '../policies/policy.ts';
import { Gate } from '../queue/gate.ts';
import type { CheckedOptions, ResolvedOptions } from './common-options.ts';
import { GateSubscriber, type GateSubscriberOptions } from './gate-subscriber.ts';
import { type RequestInput, type RequestOptions, TicketFactory } from './ticket-factory.ts';
import { watchGateOf } from './watch-gates.ts';

/** A policy that one subscription has for itself. */
export interface OpenedPolicy {
  readonly policy: Policy;
  /** What gauges show of it: the same policy by its name, or those that it consists of. */
  readonly policies: Partial<Policies>;
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
      const { policy, policies } = open(around);
      const gate = new Gate(kind, policy, clock, instrumentation);
      watchGateOf(out, around, gate, policies);
      source.subscribe(
        new GateSubscriber(out, gate, new TicketFactory<T>(around, options), options, true),
      );
    });
}
