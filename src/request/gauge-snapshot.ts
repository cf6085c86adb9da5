import { AdaptiveRateCore } from '../core/adaptive-rate-core.ts';
import type { Probe } from '../model/probe.ts';
import type { Reading } from '../model/reading.ts';
import { openGates } from './open-gates.ts';
import type { RequestGate } from './request-gate.ts';

/** What gauges show of a gate. */
export function readingOf({ gate, slots, bytes, policies, feedback }: RequestGate): Reading {
  const now = feedback.clock.now();
  const { circuitBreaker, rateLimit, pace, adaptive } = policies;
  const { limit, throttledLimit } = slots;
  const { mode, state } = feedback.gate.core.snapshot(now);
  const requestsPerSecond = rateLimit?.limits.perSecond('requests');
  const limited = requestsPerSecond === undefined ? undefined : { limit: requestsPerSecond };
  const adapted = adaptive instanceof AdaptiveRateCore ? adaptive.reading(now) : undefined;
  return {
    waiting: gate.waitingByKind,
    mode,
    isBackingOff: state === 'closed',
    slots: { limit, throttledLimit },
    bytes: { used: bytes.used, limit: bytes.maxBytes },
    limits: rateLimit?.snapshot(now),
    circuit: circuitBreaker?.snapshot(now).state,
    intervalMs: pace?.interval.ms,
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
