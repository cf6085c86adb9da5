export type CircuitState = 'closed' | 'open' | 'half-open';

/**
 * How an attempt ended, for the circuit. `ignored`: it says nothing of the provider (cancelled, or
 * excluded by a predicate). `fatal`: asking again cannot help, and why.
 */
export type CircuitResult = 'ok' | 'failed' | 'ignored' | { readonly fatal: string };

/** A transition, with the time at which it was due. */
export type CircuitFact =
  | {
      readonly kind: 'circuitOpened';
      readonly at: number;
      /** Until a probe may go. */
      readonly openMs: number;
      /** In a row, so far. */
      readonly failures: number;
      readonly reason?: string | undefined;
    }
  | { readonly kind: 'circuitHalfOpen'; readonly at: number }
  | { readonly kind: 'circuitClosed'; readonly at: number };

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
