import type { Subscriber } from 'rxjs';
import type { GaugeSnapshot } from '../model/gauge-snapshot.ts';
import { measure, type Policies } from '../policies/policies.ts';
import type { Gate } from '../queue/gate.ts';
import type { ResolvedOptions } from './common-options.ts';

/**
 * Shows the state of an operator in gauges, and that of the feedback it was given, while `out` is
 * subscribed.
 */
export function watchOperator(
  out: Subscriber<never>,
  { instrumentation, feedback }: ResolvedOptions,
  read?: () => GaugeSnapshot,
): void {
  if (instrumentation === undefined) return;
  if (feedback !== undefined) out.add(feedback.show(instrumentation));
  if (read !== undefined) out.add(instrumentation.opened?.(read));
}

/** Shows the gauges of the policies of an operator's gate, and who waits there. */
export function watchGateOf(
  out: Subscriber<never>,
  around: ResolvedOptions,
  gate: Gate,
  policies: Partial<Policies>,
): void {
  watchOperator(out, around, () => ({
    waiting: gate.waitingByKind,
    gauges: measure(policies, around.clock.now()),
  }));
}
