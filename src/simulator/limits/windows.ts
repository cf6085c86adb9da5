import {
  type Capacity,
  type Charge,
  type LimitSize,
  type LimitState,
  TOLERANCE_MS,
} from './limit-state.ts';

/**
 * A count that starts anew every `windowMs`, counted from the provider's start.
 * Around the edge between two windows, up to twice the limit may pass at once.
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

  /** A refund for a past window is lost; an additional cost counts in the present window. */
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

/** Entries that have left the window are removed once they are this many and half of the list. */
const COMPACT_FROM = 64;

/**
 * A log of charges: no interval of `windowMs`, wherever it starts, holds more than the limit. An
 * entry counts for exactly `windowMs`.
 */
export class SlidingWindow implements LimitState {
  readonly #limit: number;
  readonly #windowMs: number;
  readonly #capacity: Capacity;
  #log: Charge[] = [];
  #head = 0;
  #used = 0;

  constructor(size: LimitSize, capacity: Capacity) {
    this.#limit = size.limit;
    this.#windowMs = size.windowMs;
    this.#capacity = capacity;
  }

  waitMs(nowMs: number, cost: number): number {
    this.#expire(nowMs);
    const excess = this.#used + cost - this.#limit * this.#capacity.factorAt(nowMs);
    if (excess <= 0) return 0;
    if (cost > this.#limit) return Number.POSITIVE_INFINITY;
    const last = excess < this.#used / 2 ? this.#lastOfOldest(excess) : this.#lastToLeave(excess);
    return last === undefined ? this.#windowMs : last.atMs + this.#windowMs - nowMs;
  }

  /** The entry whose end frees at least `excess`, searched from the oldest. */
  #lastOfOldest(excess: number): Charge | undefined {
    let freed = 0;
    for (let index = this.#head; index < this.#log.length; index++) {
      const entry = this.#log[index] as Charge;
      freed += entry.cost;
      if (freed >= excess) return entry;
    }
    return undefined;
  }

  /** The same entry, searched from the newest: if rejections count, few of very many may stay. */
  #lastToLeave(excess: number): Charge | undefined {
    let stays = this.#used - excess;
    for (let index = this.#log.length - 1; index >= this.#head; index--) {
      const entry = this.#log[index] as Charge;
      stays -= entry.cost;
      if (stays < 0) return entry;
    }
    return undefined;
  }

  charge(nowMs: number, cost: number): Charge {
    this.#expire(nowMs);
    const entry: Charge = { atMs: nowMs, cost };
    this.#log.push(entry);
    this.#used += cost;
    return entry;
  }

  /** A lower cost corrects the entry; an additional cost is charged now. */
  settle(nowMs: number, charge: Charge, actual: number): void {
    if (actual > charge.cost) {
      this.charge(nowMs, actual - charge.cost);
      return;
    }
    this.#expire(nowMs);
    if (!this.#hasLeft(charge, nowMs)) this.#used -= charge.cost - actual;
    charge.cost = actual;
  }

  penalise(nowMs: number, cost: number): void {
    this.charge(nowMs, cost);
  }

  remaining(nowMs: number): number {
    this.#expire(nowMs);
    return Math.max(0, this.#limit * this.#capacity.factorAt(nowMs) - this.#used);
  }

  resetMs(nowMs: number): number {
    this.#expire(nowMs);
    const last = this.#log.at(-1);
    return last === undefined || this.#head === this.#log.length
      ? 0
      : last.atMs + this.#windowMs - nowMs;
  }

  #expire(nowMs: number): void {
    for (;;) {
      const entry = this.#log[this.#head];
      if (entry === undefined || !this.#hasLeft(entry, nowMs)) break;
      this.#used -= entry.cost;
      this.#head++;
    }
    if (this.#head >= COMPACT_FROM && this.#head * 2 >= this.#log.length) {
      this.#log = this.#log.slice(this.#head);
      this.#head = 0;
    }
  }

  #hasLeft(entry: Charge, nowMs: number): boolean {
    return entry.atMs + this.#windowMs <= nowMs + TOLERANCE_MS;
  }
}
