import type { GaugeSnapshot } from '../model/gauge-snapshot.ts';
import type { Instrumentation } from '../model/instrumentation.ts';
import { AdaptiveRatePolicy } from '../policies/adaptive-rate-policy.ts';
import { KINDS, measure } from '../policies/policies.ts';
import { openGates } from './open-gates.ts';
import type { RequestGate } from './request-gate.ts';

/** Every gate is told from the start: at 0, while nobody waits there. */
const NOBODY: GaugeSnapshot['waiting'] = ([...KINDS, 'retry', 'paused'] as const).map((kind) => [
  kind,
  0,
]);

/** The state of a gate for gauges. */
export function gaugeSnapshotOf(from: RequestGate): GaugeSnapshot {
  const { gate, slots, bytes, policies, feedback, isPaced } = from;
  const now = feedback.clock.now();
  const { circuitBreaker, rateLimit, pace, adaptive } = policies;
  const { limit } = slots;
  // A rate that adapts needs no other slots in throttled mode.
  const throttledLimit = isPaced ? limit : slots.throttledLimit;
  const { state } = feedback.gate.policy.snapshot(now);
  const requestsPerSecond = rateLimit?.limits.perSecond('requests');
  const limited = requestsPerSecond === undefined ? undefined : { limit: requestsPerSecond };
  const adapted = adaptive instanceof AdaptiveRatePolicy ? adaptive.reading(now) : undefined;
  return {
    waiting: [...NOBODY, ...gate.waitingByKind],
    isSending: true,
    mode: feedback.mode,
    isBackingOff: state === 'closed',
    slots: { limit, throttledLimit },
    bytes: { used: bytes.used, limit: bytes.maxBytes },
    limits: rateLimit?.snapshot(now),
    circuit: circuitBreaker?.snapshot(now).state,
    intervalMs: pace?.interval.ms,
    gauges: measure(policies, now),
    ...adapted,
    rates: adapted?.rates ?? limited,
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
