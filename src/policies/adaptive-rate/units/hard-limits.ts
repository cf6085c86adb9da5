/** The limits that were configured, by their units. */
export interface HardLimits {
  /** The rate of the limit on a unit, per ms; Infinity if there is none. */
  perMs(unit: 'requests' | 'tokens'): number;
  /** The largest burst of requests that a limit permits. */
  burst(): number;
  /** Whether an attempt that is sent now tests the end of a configured window. */
  isTest?(now: number): boolean | undefined;
}
