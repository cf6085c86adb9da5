import { Observable, type OperatorFunction, type Subscriber } from 'rxjs';
import type { GateKind } from '../model/outcome.ts';
import type { Ticket } from '../model/ticket.ts';
import { measure, type Policies } from '../policies/policies.ts';
import type { Policy } from '../policies/policy.ts';
import { Gate } from '../queue/gate.ts';
import { checkKeys } from '../util/check.ts';
import {
  COMMON_KEYS,
  type CommonOptions,
  type ResolvedOptions,
  resolveCommonOptions,
  watchOperator,
} from './gate-options.ts';
import {
  checkGateSubscriberOptions,
  GATE_SUBSCRIBER_KEYS,
  GateSubscriber,
  type GateSubscriberOptions,
} from './gate-subscriber.ts';
import type { RequestOptions } from './request-options.ts';
import { type RequestInput, TicketFactory } from './ticket-factory.ts';

/** Options of every operator around one policy. */
export interface PolicyOperatorOptions extends CommonOptions, GateSubscriberOptions {}

/** A policy that one subscription has for itself. */
export interface OpenedPolicy<P extends Policy = Policy> {
  readonly policy: P;
  /** The policies that gauges show: this policy by its name, or its parts. */
  readonly policies: Partial<Policies>;
}

/** The differences between operators around one policy. */
export interface PolicyOperator<T, P extends Policy> {
  /** The name of the operator in errors. */
  readonly name: string;
  /** The cause of its waits. */
  readonly kind: GateKind;
  /** Its own options. */
  readonly keys: readonly string[];
  /** `attempt`: each attempt of a request passes the gate again. `request`: only the first one. */
  readonly limits: 'attempt' | 'request';
  /** Checks its own options. */
  check(): void;
  /**
   * Makes the policy of one subscription. Also called once at the start, so that wrong options
   * throw early.
   */
  open(common: ResolvedOptions): OpenedPolicy<P>;
  /** Makes a limit follow a stream of limits while `out` is subscribed. Default: none does. */
  follow?(out: Subscriber<Ticket<T>>, gate: Gate<P>): void;
}

/**
 * A gate around one policy, as an operator. Each subscription has its own policy.
 * @throws RangeError or TypeError that names a wrong option
 */
export function policyOperator<T, P extends Policy>(
  operator: PolicyOperator<T, P>,
  options: PolicyOperatorOptions & RequestOptions<T>,
): OperatorFunction<RequestInput<T>, Ticket<T>> {
  const { name, kind, keys, limits } = operator;
  checkKeys(name, options, [...keys, ...COMMON_KEYS, ...GATE_SUBSCRIBER_KEYS]);
  operator.check();
  checkGateSubscriberOptions(options);
  const common = resolveCommonOptions(options);
  operator.open(common);
  return (source) =>
    new Observable((out) => {
      const observed = common.withTelemetry();
      const { clock, instrumentation } = observed;
      const { policy, policies } = operator.open(observed);
      const gate = new Gate(kind, policy, clock, instrumentation);
      watchOperator(out, observed, () => ({
        waiting: gate.waitingByKind,
        gauges: measure(policies, clock.now()),
      }));
      operator.follow?.(out, gate);
      // A stream of limits may have emitted a wrong one at once.
      if (out.closed) return;
      const factory = new TicketFactory<T>(observed, options);
      source.subscribe(new GateSubscriber(out, gate, factory, options, limits === 'attempt'));
    });
}
