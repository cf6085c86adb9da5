import type { Capacity, Charge, LimitSize, LimitState } from './limit-state.ts';

/** Sums of fractions are not exact: after exactly the wait, the cost must fit. */
const TOLERANCE = 1e-6;

/**
 * A bucket that starts full with `burst` and is refilled evenly, `limit` a window.
 * Capacity changes the rate of the refill, not the size of the bucket.
 */
export class TokenBucket implements LimitState {
  readonly #ratePerMs: number;
  readonly #burst: number;
  readonly #capacity: Capacity;
  #level: number;
  #refilledMs = 0;

  constructor(size: LimitSize, burst: number, capacity: Capacity) {
    this.#ratePerMs = size.limit / size.windowMs;
    this.#burst = burst;
    this.#level = burst;
    this.#capacity = capacity;
  }

  waitMs(nowMs: number, cost: number): number {
    this.#refill(nowMs);
    if (this.#level + TOLERANCE >= cost) return 0;
    if (cost > this.#burst) return Number.POSITIVE_INFINITY;
    return this.#fillMs(nowMs, cost);
  }

  charge(nowMs: number, cost: number): Charge {
    this.#refill(nowMs);
    this.#level -= cost;
    return { atMs: nowMs, cost };
  }

  settle(nowMs: number, charge: Charge, actual: number): void {
    this.#refill(nowMs);
    this.#level = Math.min(this.#burst, this.#level + charge.cost - actual);
    charge.cost = actual;
  }

  /** A rejected request takes at most the rest of the level, and makes no debt. */
  penalise(nowMs: number, cost: number): void {
    this.#refill(nowMs);
    this.#level -= Math.min(cost, Math.max(0, this.#level));
  }

  remaining(nowMs: number): number {
    this.#refill(nowMs);
    return Math.max(0, this.#level + TOLERANCE);
  }

  resetMs(nowMs: number): number {
    this.#refill(nowMs);
    return this.#fillMs(nowMs, this.#burst);
  }

  #refill(nowMs: number): void {
    if (nowMs <= this.#refilledMs) return;
    const refill = this.#ratePerMs * this.#capacity.integral(this.#refilledMs, nowMs);
    this.#level = Math.min(this.#burst, this.#level + refill);
    this.#refilledMs = nowMs;
  }

  /** Assumes that the present rate stays: a provider does not foresee its capacity. */
  #fillMs(nowMs: number, level: number): number {
    const missing = level - this.#level;
    return missing <= 0 ? 0 : missing / (this.#ratePerMs * this.#capacity.factorAt(nowMs));
  }
}
