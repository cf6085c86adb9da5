import { endOf, type LimitSize, type LimitState } from './limit-state.ts';

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

/**
 * A count that begins with a charge and ends `windowMs` later, with its debt; the next window
 * begins with the next charge. The provider's windows are not visible from here, and multiples of
 * `windowMs` on a clock that counts from the start of the process would be no closer to them. A
 * window that begins with its first charge is at least never cut short after an idle time.
 */
export class FixedWindow implements LimitState {
  #limit: number;
  #windowMs: number;
  #usedUp = 0;
  #startedAt = 0;
  /** How many windows have begun. A window begins with its first charge. */
  #windows = 0;

  constructor(size: LimitSize) {
    this.#limit = size.limit;
    this.#windowMs = size.windowMs;
  }

  used(now: number): number {
    if (this.#usedUp > 0 && now >= this.#endsAt()) this.#usedUp = 0;
    return this.#usedUp;
  }

  available(now: number): number {
    return Math.max(0, this.#limit - this.used(now));
  }

  readyAt(cost: number, now: number): number {
    if (this.used(now) + cost <= this.#limit) return now;
    return cost > this.#limit ? Number.POSITIVE_INFINITY : this.#endsAt();
  }

  emptyAt(now: number): number {
    return this.used(now) === 0 ? now : this.#endsAt();
  }

  charge(amount: number, now: number): number {
    if (this.used(now) === 0) {
      this.#startedAt = now;
      this.#windows += 1;
    }
    this.#usedUp += amount;
    return this.#windows;
  }

  /** The unused amount of a past window is lost. */
  giveBack(amount: number, mark: number, now: number): void {
    if (this.used(now) > 0 && mark === this.#windows) this.#usedUp -= amount;
  }

  resize(size: LimitSize, now: number): void {
    this.used(now);
    this.#limit = size.limit;
    this.#windowMs = size.windowMs;
  }

  #endsAt(): number {
    return endOf(this.#startedAt, this.#windowMs);
  }
}
