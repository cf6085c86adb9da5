import type { RecentOutcomes } from './outcome-window.ts';

export type CircuitState = 'closed' | 'open' | 'half-open';

/**
 * How an attempt ended, for the circuit. `ignored`: it says nothing of the provider (cancelled, or
 * excluded by a predicate). `fatal`: asking again cannot help, and why.
 */
export type CircuitResult = 'ok' | 'failed' | 'ignored' | { readonly fatal: string };

export interface CircuitSnapshot {
  /** `open` while it is isolated. */
  readonly state: CircuitState;
  /** Whether `circuit.isolate` keeps it open. */
  readonly isIsolated: boolean;
  /** Failures in a row. */
  readonly failures: number;
  /** Of the last `windowMs`; undefined without `failureRatio`. */
  readonly recent: RecentOutcomes | undefined;
  /** Until a probe may go; 0 unless open; Infinity while it is isolated. */
  readonly retryAfterMs: number;
  /** Probes on their way. */
  readonly probes: number;
  readonly reason: string | undefined;
}

/** What a circuit breaker knows of its provider, as plain data that JSON keeps. Times are durations in ms. */
export interface CircuitExport {
  readonly version: 1;
  readonly state: CircuitState;
  /** In a row. */
  readonly failures: number;
  /** For how long it stays, or was last, open. */
  readonly openMs: number;
  /** Until a probe may go; 0 unless open. */
  readonly leftMs: number;
  readonly recent?: RecentOutcomes;
  readonly reason?: string;
}
