import { endOf, type LimitSize, type LimitState } from './limit-state.ts';

/** A bucket does not distinguish charges. */
const MARK = 0;

/**
 * A bucket that starts full with `burst` and is refilled evenly, `limit` per window, up to `burst`.
 *
 * It keeps the amount drawn since it was last full, and the time of that: sums of integers, so that
 * rounding errors never accumulate.
 */
export class TokenBucket implements LimitState {
  #limit: number;
  #windowMs: number;
  #burst: number;
  #drawn = 0;
  #fullAt = Number.NEGATIVE_INFINITY;

  constructor(size: LimitSize) {
    this.#limit = size.limit;
    this.#windowMs = size.windowMs;
    this.#burst = size.maxCost;
  }

  used(now: number): number {
    this.#refill(now);
    return Math.max(0, this.#drawn - ((now - this.#fullAt) * this.#limit) / this.#windowMs);
  }

  available(now: number): number {
    return Math.max(0, this.#burst - this.used(now));
  }

  readyAt(cost: number, now: number): number {
    this.#refill(now);
    const excess = this.#drawn + cost - this.#burst;
    if (excess <= 0) return now;
    return cost > this.#burst ? Number.POSITIVE_INFINITY : this.#refilledAt(excess);
  }

  emptyAt(now: number): number {
    this.#refill(now);
    return this.#refilledAt(this.#drawn);
  }

  charge(amount: number, now: number): number {
    this.#refill(now);
    this.#drawn += amount;
    return MARK;
  }

  /** Returns an amount to the bucket now; an overflow is lost. */
  giveBack(amount: number): void {
    this.#drawn -= amount;
  }

  resize(size: LimitSize, now: number): void {
    this.#drawn = this.used(now);
    this.#fullAt = now;
    this.#limit = size.limit;
    this.#windowMs = size.windowMs;
    this.#burst = size.maxCost;
  }

  #refill(now: number): void {
    if (now < this.#refilledAt(this.#drawn)) return;
    this.#drawn = 0;
    this.#fullAt = now;
  }

  /** The time at which this part of the drawn amount has been refilled. */
  #refilledAt(amount: number): number {
    return endOf(this.#fullAt, (amount * this.#windowMs) / this.#limit);
  }
}
