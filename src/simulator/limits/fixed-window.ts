import type { Capacity } from './capacity.ts';
import { type Charge, type LimitSize, type LimitState, TOLERANCE_MS } from './limit-state.ts';

/**
 * A count that starts anew every `windowMs`, counted from the provider's start.
 * Around the edge of two windows it lets twice the limit pass at once.
 */
export class FixedWindow implements LimitState {
  readonly #limit: number;
  readonly #windowMs: number;
  readonly #capacity: Capacity;
  #window = 0;
  #used = 0;

  constructor(size: LimitSize, capacity: Capacity) {
    this.#limit = size.limit;
    this.#windowMs = size.windowMs;
    this.#capacity = capacity;
  }

  waitMs(nowMs: number, cost: number): number {
    this.#turn(nowMs);
    if (this.#used + cost <= this.#allowed(nowMs)) return 0;
    return cost > this.#limit ? Number.POSITIVE_INFINITY : this.#leftMs(nowMs);
  }

  charge(nowMs: number, cost: number): Charge {
    this.#turn(nowMs);
    this.#used += cost;
    return { atMs: nowMs, cost };
  }

  /** What a past window did not use is lost; what came on top counts in the present one. */
  settle(nowMs: number, charge: Charge, actual: number): void {
    this.#turn(nowMs);
    const inThisWindow = this.#windowAt(charge.atMs) === this.#window;
    if (inThisWindow || actual > charge.cost) this.#used += actual - charge.cost;
    charge.cost = actual;
  }

  penalise(nowMs: number, cost: number): void {
    this.charge(nowMs, cost);
  }

  remaining(nowMs: number): number {
    this.#turn(nowMs);
    return Math.max(0, this.#allowed(nowMs) - this.#used);
  }

  resetMs(nowMs: number): number {
    this.#turn(nowMs);
    return this.#used === 0 ? 0 : this.#leftMs(nowMs);
  }

  #allowed(nowMs: number): number {
    return this.#limit * this.#capacity.factorAt(nowMs);
  }

  #leftMs(nowMs: number): number {
    return (this.#window + 1) * this.#windowMs - nowMs;
  }

  #turn(nowMs: number): void {
    const window = this.#windowAt(nowMs);
    if (window <= this.#window) return;
    this.#window = window;
    this.#used = 0;
  }

  #windowAt(nowMs: number): number {
    return Math.floor((nowMs + TOLERANCE_MS) / this.#windowMs);
  }
}
