/** Gates that are on beside the defaults: each alone, and all together. */
import type { LimiterOptions } from 'headgate';

/** Plain options, so that naming a gate loads nothing. */
export interface Gating
  extends Pick<
    LimiterOptions,
    | 'adaptive'
    | 'circuitBreaker'
    | 'concurrency'
    | 'limits'
    | 'maxQueue'
    | 'onLimit'
    | 'pace'
    | 'waitTimeoutMs'
  > {
  readonly priority?: (value: number) => number;
}

/** Above all that is ever charged or waits here: a limit that is asked, and never binds. */
const NEVER_REACHED = 1e12;

const limits: Gating = {
  limits: {
    requests: { limit: NEVER_REACHED, windowMs: 60_000 },
    tokens: { limit: NEVER_REACHED, windowMs: 60_000, charge: 'settle' },
  },
};
const pace: Gating = { pace: { intervalMs: 0 } };
const circuit: Gating = { circuitBreaker: true };
const failures: Gating = { adaptive: 'failures' };
const queue: Gating = { maxQueue: 10_000_000, waitTimeoutMs: 3_600_000 };
const priority: Gating = { priority: () => 0 };

/** By the names that `--only` takes. Each leaves as many slots as `concurrency` says. */
const gates = {
  'gate-none': () => ({}),
  'gate-limits': () => limits,
  'gate-pace': () => pace,
  'gate-circuit': () => circuit,
  'gate-adaptive-failures': () => failures,
  // It samples all the same; without a lowest limit it would soon be another concurrency.
  'gate-adaptive-latency': (concurrency: number) => ({
    adaptive: { strategy: 'latency', minLimit: concurrency, initialLimit: concurrency } as const,
  }),
  'gate-queue': () => queue,
  'gate-priority': () => priority,
  'gate-all': () => ({ ...limits, ...pace, ...circuit, ...failures }),
  'gate-all-queued': () => ({
    ...limits,
    ...pace,
    ...circuit,
    ...failures,
    ...queue,
    ...priority,
  }),
} satisfies Record<string, (concurrency: number) => Gating>;

export type GateName = keyof typeof gates;

export const gateNames = Object.keys(gates).filter(isGateName);

export function isGateName(name: string): name is GateName {
  return Object.hasOwn(gates, name);
}

export function gatingOf(name: GateName, concurrency: number): Gating {
  return { ...gates[name](concurrency), concurrency };
}
