/** Gates that are on in addition to the defaults: each alone, and all together. */
import type { LimiterOptions } from 'headgate';

/** Plain options, so that the name of a gate can be used without loading the library. */
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

/** A limit above everything that is charged or waits here: it is checked, and never binds. */
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

/** The gates by the names that `--only` accepts. None lowers the number of slots. */
const gates = {
  'gate-none': () => ({}),
  'gate-limits': () => limits,
  'gate-pace': () => pace,
  'gate-circuit': () => circuit,
  'gate-adaptive-failures': () => failures,
  // The lowest limit keeps the concurrency constant; the policy still takes its samples.
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
