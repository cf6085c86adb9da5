import { checkNumber } from '../../util/check.ts';

/**
 * Sums of fractions of a millisecond are not exact. Times that differ by less count as equal, so
 * that a wait is long enough when exactly that time has passed.
 */
export const TOLERANCE_MS = 1e-6;

/** A charge in a limit. Pass it to `settle` when the actual cost is known. */
export interface Charge {
  readonly atMs: number;
  cost: number;
}

/**
 * One rate limit as a provider keeps it: a pure state machine. Times are milliseconds since the
 * provider started and must never decrease; costs are in the limit's unit, >= 0.
 */
export interface LimitState {
  /** Milliseconds until `cost` would fit: 0 when it fits now, Infinity when it never will. */
  waitMs(nowMs: number, cost: number): number;
  /** Takes `cost`, whether it fits or not: check `waitMs` first. */
  charge(nowMs: number, cost: number): Charge;
  /** Replaces a charge by the actual cost. Going above the limit leaves a debt. */
  settle(nowMs: number, charge: Charge, actual: number): void;
  /** Charges a rejected request. */
  penalise(nowMs: number, cost: number): void;
  /** The amount that could be taken now, >= 0. */
  remaining(nowMs: number): number;
  /** Milliseconds until the whole limit is available again, if nothing more is taken. */
  resetMs(nowMs: number): number;
}

/** The size of a limit. */
export interface LimitSize {
  /** The amount allowed per `windowMs` milliseconds, > 0. */
  readonly limit: number;
  readonly windowMs: number;
}

/** Tokens of one request. */
export interface TokenCounts {
  readonly inputTokens: number;
  readonly outputTokens: number;
}

/** From `atMs` on the limits are multiplied by `factor`. Before the first step the factor is 1. */
export interface CapacityStep {
  /** Milliseconds since the provider was made. */
  atMs: number;
  /** >= 0; 1 is the full limit. */
  factor: number;
}

/**
 * The part of the limits that is available, by milliseconds since the provider was made. Must be
 * pure.
 */
export type CapacityFunction = (nowMs: number) => number;

/** The interval at which a capacity function is called. In between, the factor is constant. */
const SAMPLE_MS = 1000;

/** The factor of the limits over time. It is piecewise constant. */
export class Capacity {
  readonly #steps: readonly CapacityStep[];
  readonly #sample: CapacityFunction | undefined;

  constructor(capacity: readonly CapacityStep[] | CapacityFunction = []) {
    this.#sample = typeof capacity === 'function' ? capacity : undefined;
    this.#steps =
      typeof capacity === 'function' ? [] : [...capacity].sort((a, b) => a.atMs - b.atMs);
  }

  factorAt(nowMs: number): number {
    return this.#pieceAt(nowMs).factor;
  }

  /** The factor of reported limits: steps change the limits themselves, other tenants do not. */
  announcedFactorAt(nowMs: number): number {
    return this.#sample === undefined ? this.factorAt(nowMs) : 1;
  }

  /** The integral of the factor from one time to a later one, in milliseconds. */
  integral(fromMs: number, toMs: number): number {
    let sum = 0;
    let atMs = fromMs;
    while (atMs < toMs) {
      const piece = this.#pieceAt(atMs);
      const endMs = Math.min(piece.endMs, toMs);
      sum += piece.factor * (endMs - atMs);
      atMs = endMs;
    }
    return sum;
  }

  #pieceAt(nowMs: number): { factor: number; endMs: number } {
    if (this.#sample !== undefined) {
      const startMs = Math.floor(nowMs / SAMPLE_MS) * SAMPLE_MS;
      const factor = checkNumber(`capacity(${startMs})`, this.#sample(startMs), 0);
      return { factor, endMs: startMs + SAMPLE_MS };
    }
    let factor = 1;
    for (const step of this.#steps) {
      if (step.atMs > nowMs) return { factor, endMs: step.atMs };
      factor = step.factor;
    }
    return { factor, endMs: Number.POSITIVE_INFINITY };
  }
}
