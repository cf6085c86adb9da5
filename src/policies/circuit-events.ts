import type { RecentOutcomes } from './outcome-window.ts';

export type CircuitState = 'closed' | 'open' | 'half-open';

/**
 * The result of an attempt for the circuit. `ignored`: it was cancelled, or excluded by a predicate.
 * `fatal`: another attempt cannot help, with the reason.
 */
export type CircuitResult = 'ok' | 'failed' | 'ignored' | { readonly fatal: string };

export interface CircuitSnapshot {
  /** `open` while it is isolated. */
  readonly state: CircuitState;
  /** Whether `circuit.isolate` keeps it open. */
  readonly isIsolated: boolean;
  /** Consecutive failures. */
  readonly failures: number;
  /** The share of failures in the last `windowMs`; undefined without `failureRatio`. */
  readonly recent: RecentOutcomes | undefined;
  /** The time until a probe may go, in ms; 0 unless open, Infinity while it is isolated. */
  readonly retryAfterMs: number;
  /** Probes in flight. */
  readonly probes: number;
  readonly reason: string | undefined;
}

/** The state of a circuit breaker as plain data for JSON. Times are durations in ms. */
export interface CircuitExport {
  readonly version: 1;
  readonly state: CircuitState;
  /** In a row. */
  readonly failures: number;
  /** The length of the present or last opening. */
  readonly openMs: number;
  /** The time until a probe may go, in ms; 0 unless open. */
  readonly leftMs: number;
  readonly recent?: RecentOutcomes;
  readonly reason?: string;
}
