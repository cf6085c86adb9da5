import type { FleetFeedback, FleetGate } from '../fleet/fleet-gate.ts';
import type { Instrumentation } from '../model/instrumentation.ts';
import type { RateLimitPolicy } from '../policies/rate-limit-policy.ts';
import type { Clock } from '../util/clock.ts';
import type { GroupStore } from './group-store.ts';

/** Where slots, or bytes, have no bound. */
const UNBOUND = 1_000_000_000_000;

/** What is around the limits that all keys of a group share. */
export interface CommonAround {
  /** Where the same limits of other processes are; undefined: they are shared with none. */
  readonly store: GroupStore | undefined;
  readonly name: string | undefined;
  readonly clock: Clock;
  readonly instrumentation: Instrumentation | undefined;
}

/**
 * The limits that all keys of a group share, as their fleet sees them. Nothing is heard here of a provider:
 * each key has its own answers, backoff and circuit.
 */
export function commonGateOf(
  { name, clock }: CommonAround,
  { concurrency = UNBOUND, maxBytes = UNBOUND }: { concurrency?: number; maxBytes?: number },
  rateLimit: RateLimitPolicy | undefined,
  gate: FleetGate['gate'],
): FleetGate {
  return {
    name,
    gate,
    slots: { maxLimit: concurrency },
    bytes: { maxBytes },
    policies: { rateLimit, circuitBreaker: undefined },
    feedback: silent(clock),
  };
}

function silent(clock: Clock): FleetFeedback {
  const never = Number.NEGATIVE_INFINITY;
  return {
    clock,
    gate: { policy: { until: never, throttledUntil: never } },
    provider: {
      users: { watch: () => () => {} },
      heard: () => {},
      setOutage: () => {},
    },
  };
}
