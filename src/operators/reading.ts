import { AdaptiveRateCore } from '../core/adaptive-rate-core.ts';
import type { Gate } from '../gate/gate.ts';
import type { Probe } from '../model/probe.ts';
import type { Reading } from '../model/reading.ts';
import type { Gates } from './gates.ts';

/** What gauges show of a set of gates. */
export function readingOf({ concurrency, byteBudget, attempt, feedback }: Gates): Reading {
  const now = feedback.clock.now();
  const { circuitBreaker, rateLimit, pace, adaptive } = attempt.cores;
  const { limit, throttledLimit } = concurrency.core;
  const { mode, state } = feedback.gate.core.snapshot(now);
  const requestsPerSecond = rateLimit?.limits.perSecond('requests');
  const limited = requestsPerSecond === undefined ? undefined : { limit: requestsPerSecond };
  const adapted = adaptive instanceof AdaptiveRateCore ? adaptive.reading(now) : undefined;
  return {
    waiting: [concurrency, byteBudget, attempt.gate].map(waitingAt),
    mode,
    isBackingOff: state === 'closed',
    slots: { limit, throttledLimit },
    bytes: { used: byteBudget.core.used, limit: byteBudget.core.maxBytes },
    limits: rateLimit?.snapshot(now),
    circuit: circuitBreaker?.snapshot(now).state,
    intervalMs: pace?.interval.ms,
    ...adapted,
    rates: adapted?.rates ?? limited,
  };
}

function waitingAt(gate: Gate): Reading['waiting'][number] {
  return [gate.waitKind, gate.waiting];
}

/** Has a probe watch a set of gates, until what is returned is called. */
export function watchGates(
  probe: Probe | undefined,
  gates: Gates,
  read: () => Reading = () => readingOf(gates),
): () => void {
  if (probe === undefined) return () => {};
  const unwatch = gates.feedback.watch(probe);
  const close = probe.opened?.(read);
  return () => {
    close?.();
    unwatch();
  };
}
