import { ChargeLog } from './charge-log.ts';
import { endOf, type LimitSize, type LimitState } from './limit-state.ts';

/**
 * A log of the charges of the last `windowMs`: no interval `(t, t + windowMs]` holds more than the
 * limit. A charge counts for exactly `windowMs`.
 */
export class SlidingWindow implements LimitState {
  readonly #log = new ChargeLog();
  #limit: number;
  #windowMs: number;
  /** When the oldest charge leaves the window. */
  #leavesAt = Number.POSITIVE_INFINITY;

  constructor(size: LimitSize) {
    this.#limit = size.limit;
    this.#windowMs = size.windowMs;
  }

  used(now: number): number {
    this.#leave(now);
    return this.#log.total;
  }

  available(now: number): number {
    return Math.max(0, this.#limit - this.used(now));
  }

  readyAt(cost: number, now: number): number {
    const used = this.used(now);
    const excess = used + cost - this.#limit;
    if (excess <= 0) return now;
    if (excess > used) return Number.POSITIVE_INFINITY;
    return endOf(this.#log.timeOf(excess), this.#windowMs);
  }

  emptyAt(now: number): number {
    return this.used(now) === 0 ? now : endOf(this.#log.newest, this.#windowMs);
  }

  charge(amount: number, now: number): number {
    this.#leave(now);
    const entry = this.#log.add(amount, now);
    // Earlier charges leave earlier.
    if (this.#leavesAt === Number.POSITIVE_INFINITY) this.#leavesAt = endOf(now, this.#windowMs);
    return entry;
  }

  /** Corrects the charge at its own time, not now: it leaves when it would have left. */
  giveBack(amount: number, mark: number): void {
    this.#log.remove(amount, mark);
    this.#leavesAt = this.#oldestLeavesAt();
  }

  /** A charge that has left a shorter window does not return into a longer one. */
  resize(size: LimitSize, now: number): void {
    this.#leave(now);
    this.#limit = size.limit;
    this.#windowMs = size.windowMs;
    this.#leavesAt = this.#oldestLeavesAt();
  }

  #leave(now: number): void {
    if (now < this.#leavesAt) return;
    do {
      this.#log.shift();
      this.#leavesAt = this.#oldestLeavesAt();
    } while (now >= this.#leavesAt);
    this.#log.fit();
  }

  #oldestLeavesAt(): number {
    return this.#log.length === 0
      ? Number.POSITIVE_INFINITY
      : endOf(this.#log.oldest, this.#windowMs);
  }
}
