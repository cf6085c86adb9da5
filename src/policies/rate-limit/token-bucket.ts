import { endOf, type LimitSize, type LimitState, RefilledLimit } from './limit-state.ts';

/** The id of all charges: these limits do not distinguish charges. */
const MARK = 0;

/**
 * An amount that time does not refill: charges stay until they are given back, or until
 * `add` makes more available.
 */
export class Quota implements LimitState {
  private limit: number;
  /** Below 0 if more was given back than is used: then more than the limit is available. */
  private drawn = 0;

  constructor(size: Pick<LimitSize, 'limit'>) {
    this.limit = size.limit;
  }

  used(): number {
    return Math.max(0, this.drawn);
  }

  available(): number {
    return Math.max(0, this.limit - this.drawn);
  }

  /** Infinity: time alone does not help. */
  readyAt(cost: number, now: number): number {
    return this.drawn + cost <= this.limit ? now : Number.POSITIVE_INFINITY;
  }

  emptyAt(now: number): number {
    return this.drawn <= 0 ? now : Number.POSITIVE_INFINITY;
  }

  charge(amount: number): number {
    this.drawn += amount;
    return MARK;
  }

  giveBack(amount: number): void {
    this.drawn -= amount;
  }

  resize(size: Pick<LimitSize, 'limit'>): void {
    this.limit = size.limit;
  }

  /**
   * Makes this amount available in addition. @returns the limit: it is larger than before if more
   * than the old one is available now
   */
  add(amount: number): number {
    this.drawn -= amount;
    if (this.drawn < 0) {
      this.limit -= this.drawn;
      this.drawn = 0;
    }
    return this.limit;
  }
}

/**
 * A bucket that starts full with `burst` and is refilled evenly, `limit` per window, up to `burst`.
 *
 * It keeps the amount drawn since it was last full, and the time of that: sums of integers, so that
 * rounding errors never accumulate.
 */
export class TokenBucket extends RefilledLimit {
  #drawn = 0;
  #fullAt = Number.NEGATIVE_INFINITY;

  used(now: number): number {
    this.#refill(now);
    const { limit, windowMs } = this.size;
    return Math.max(0, this.#drawn - ((now - this.#fullAt) * limit) / windowMs);
  }

  readyAt(cost: number, now: number): number {
    this.#refill(now);
    const { maxCost } = this.size;
    const excess = this.#drawn + cost - maxCost;
    if (excess <= 0) return now;
    return cost > maxCost ? Number.POSITIVE_INFINITY : this.#refilledAt(excess);
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
    this.size = size;
  }

  #refill(now: number): void {
    if (now < this.#refilledAt(this.#drawn)) return;
    this.#drawn = 0;
    this.#fullAt = now;
  }

  /** The time at which this part of the drawn amount has been refilled. */
  #refilledAt(amount: number): number {
    return endOf(this.#fullAt, (amount * this.size.windowMs) / this.size.limit);
  }
}
