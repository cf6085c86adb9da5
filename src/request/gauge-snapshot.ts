import type { GaugeSnapshot } from '../model/gauge-snapshot.ts';
import type { Instrumentation } from '../model/instrumentation.ts';
import { KINDS, measure } from '../policies/policies.ts';
import { openGates } from './open-gates.ts';
import type { RequestGate } from './request-gate.ts';

/** Every gate is told from the start: at 0, while nobody waits there. */
const NOBODY: GaugeSnapshot['waiting'] = ([...KINDS, 'retry', 'paused'] as const).map((kind) => [
  kind,
  0,
]);

/** The state of a gate for gauges. */
export function gaugeSnapshotOf({ gate, policies, feedback }: RequestGate): GaugeSnapshot {
  return {
    waiting: [...NOBODY, ...gate.waitingByKind],
    isSending: true,
    mode: feedback.mode,
    gauges: measure(policies, feedback.clock.now()),
  };
}

/** Has a probe, and inspectors, watch a gate, until what is returned is called. */
export function watchGate(
  instrumentation: Instrumentation | undefined,
  gate: RequestGate,
  read: () => GaugeSnapshot = () => gaugeSnapshotOf(gate),
): () => void {
  const unlist = openGates.add(gate);
  if (instrumentation === undefined) return unlist;
  const unwatch = gate.feedback.watch(instrumentation);
  const close = instrumentation.opened?.(read);
  return () => {
    close?.();
    unwatch();
    unlist();
  };
}
