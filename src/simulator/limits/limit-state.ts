/**
 * Sums of fractions of a millisecond are not exact. Times this near are taken to be the same, so
 * that a wait which was just served is enough.
 */
export const TOLERANCE_MS = 1e-6;

/** What was taken from a limit. Hand it back to `settle` when the actual cost is known. */
export interface Charge {
  readonly atMs: number;
  cost: number;
}

/**
 * One rate limit as a provider keeps it: a pure state machine. Times are milliseconds since the
 * provider started and must never run backwards; costs are in the limit's unit, >= 0.
 */
export interface LimitState {
  /** Milliseconds until `cost` would fit: 0 when it fits now, Infinity when it never will. */
  waitMs(nowMs: number, cost: number): number;
  /** Takes `cost`, whether it fits or not: ask `waitMs` first. */
  charge(nowMs: number, cost: number): Charge;
  /** Replaces a charge by what was really used. Going above the limit leaves a debt. */
  settle(nowMs: number, charge: Charge, actual: number): void;
  /** Charges a rejected request. */
  penalise(nowMs: number, cost: number): void;
  /** What could be taken now, >= 0. */
  remaining(nowMs: number): number;
  /** Milliseconds until everything is available again, if nothing more is taken. */
  resetMs(nowMs: number): number;
}

/** What every algorithm needs to know of its limit. */
export interface LimitSize {
  /** How much `windowMs` milliseconds allow, > 0. */
  readonly limit: number;
  readonly windowMs: number;
}

/** Tokens of one request. */
export interface TokenCounts {
  readonly inputTokens: number;
  readonly outputTokens: number;
}
