import { AdaptiveRateCore } from '../core/adaptive-rate-core.ts';
import { KINDS, measure } from '../core/policies.ts';
import type { Probe } from '../model/probe.ts';
import type { Reading } from '../model/reading.ts';
import { openGates } from './open-gates.ts';
import type { RequestGate } from './request-gate.ts';

/** Every gate is told from the start: at 0, while nobody waits there. */
const NOBODY: Reading['waiting'] = ([...KINDS, 'retry', 'paused'] as const).map((kind) => [
  kind,
  0,
]);

/** What gauges show of a gate. */
export function readingOf(from: RequestGate): Reading {
  const { gate, slots, bytes, policies, feedback, isPaced } = from;
  const now = feedback.clock.now();
  const { circuitBreaker, rateLimit, pace, adaptive } = policies;
  const { limit } = slots;
  // A rate that adapts needs no other slots in throttled mode.
  const throttledLimit = isPaced ? limit : slots.throttledLimit;
  const { state } = feedback.gate.core.snapshot(now);
  const requestsPerSecond = rateLimit?.limits.perSecond('requests');
  const limited = requestsPerSecond === undefined ? undefined : { limit: requestsPerSecond };
  const adapted = adaptive instanceof AdaptiveRateCore ? adaptive.reading(now) : undefined;
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
  probe: Probe | undefined,
  gate: RequestGate,
  read: () => Reading = () => readingOf(gate),
): () => void {
  const unlist = openGates.add(gate);
  if (probe === undefined) return unlist;
  const unwatch = gate.feedback.watch(probe);
  const close = probe.opened?.(read);
  return () => {
    close?.();
    unwatch();
    unlist();
  };
}
