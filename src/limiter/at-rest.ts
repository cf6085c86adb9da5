import { AdaptiveRateCore } from '../core/adaptive-rate-core.ts';
import { CoolingCore } from '../core/cooling-core.ts';
import type { RequestGate } from '../request/request-gate.ts';

/** Whether a gate is as a new one is: nothing is held, used up or learned. */
export function isAtRest({ policies, feedback, slots }: RequestGate): boolean {
  const now = feedback.clock.now();
  const { circuitBreaker, rateLimit, pace, adaptive } = policies;
  // Throttled mode outlasts the backoff. That no request has tested the end of it yet is not worth a
  // key that may never come again.
  if (slots.inFlight > 0 || feedback.mode !== 'normal') return false;
  const circuit = circuitBreaker?.snapshot(now);
  if (circuit !== undefined && (circuit.state !== 'closed' || circuit.failures > 0)) return false;
  const usage = Object.values(rateLimit?.snapshot(now) ?? {});
  if (usage.some(({ used }) => used > 0)) return false;
  if (pace !== undefined && pace.snapshot(now).nextInMs > 0) return false;
  if (adaptive === undefined) return true;
  if (adaptive instanceof AdaptiveRateCore) return adaptive.isAtRest(now);
  // What a gradient has learned of latency is worth keeping.
  if (!(adaptive instanceof CoolingCore)) return false;
  return (
    adaptive.snapshot(now).failures === 0 && adaptive.nextChangeAt === Number.POSITIVE_INFINITY
  );
}
