import type { LimitSize, LimitState } from './limit-state.ts';

/** A quota does not tell one charge from another. */
const MARK = 0;

/**
 * An amount that time does not refill: what was charged stays charged, until it is given back or
 * `add` makes more of it available.
 */
export class Quota implements LimitState {
  private limit: number;
  /** Below 0 where more was given back than is used: then more than the limit is available. */
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

  /** So much more is available. @returns the limit: larger than before, where more than that is available now */
  add(amount: number): number {
    this.drawn -= amount;
    if (this.drawn < 0) {
      this.limit -= this.drawn;
      this.drawn = 0;
    }
    return this.limit;
  }
}
