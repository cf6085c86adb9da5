import { CoolingCore } from '../core/cooling-core.ts';
import type { Gates } from '../operators/gates.ts';

/** Whether a set of gates is as new ones are: nothing is held, used up or learned. */
export function isAtRest({ attempt, feedback, concurrency }: Gates): boolean {
  const now = feedback.clock.now();
  const { circuitBreaker, rateLimit, pace, adaptive } = attempt.cores;
  const { state, mode } = feedback.gate.core.snapshot(now);
  if (concurrency.core.inFlight > 0 || state !== 'open' || mode !== 'normal') return false;
  const circuit = circuitBreaker?.snapshot(now);
  if (circuit !== undefined && (circuit.state !== 'closed' || circuit.failures > 0)) return false;
  const usage = Object.values(rateLimit?.snapshot(now) ?? {});
  if (usage.some(({ used }) => used > 0)) return false;
  if (pace !== undefined && pace.snapshot(now).nextInMs > 0) return false;
  if (adaptive === undefined) return true;
  // What a gradient has learned of latency is worth keeping.
  if (!(adaptive instanceof CoolingCore)) return false;
  return (
    adaptive.snapshot(now).failures === 0 && adaptive.nextChangeAt === Number.POSITIVE_INFINITY
  );
}
