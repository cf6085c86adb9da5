export type CircuitState = 'closed' | 'open' | 'half-open';

/**
 * How an attempt ended, for the circuit. `ignored`: it says nothing of the provider (cancelled, or
 * excluded by a predicate). `fatal`: asking again cannot help, and why.
 */
export type CircuitResult = 'ok' | 'failed' | 'ignored' | { readonly fatal: string };

export interface CircuitSnapshot {
  readonly state: CircuitState;
  /** Failures in a row. */
  readonly failures: number;
  /** Until a probe may go; 0 unless open. */
  readonly retryAfterMs: number;
  /** Probes on their way. */
  readonly probes: number;
  readonly reason: string | undefined;
}
