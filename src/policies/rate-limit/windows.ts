import { ChargeLog } from './charge-log.ts';
import { endOf, type LimitSize, RefilledLimit } from './limit-state.ts';

/**
 * A count that begins with a charge and ends `windowMs` later, with its debt; the next window
 * begins with the next charge. The provider's windows are not visible from here, and multiples of
 * `windowMs` on a clock that counts from the start of the process would be no closer to them. A
 * window that begins with its first charge is at least never cut short after an idle time.
 */
export class FixedWindow extends RefilledLimit {
  #usedUp = 0;
  #startedAt = 0;
  /** How many windows have begun. A window begins with its first charge. */
  #windows = 0;

  used(now: number): number {
    if (this.#usedUp > 0 && now >= this.#endsAt()) this.#usedUp = 0;
    return this.#usedUp;
  }

  readyAt(cost: number, now: number): number {
    if (this.used(now) + cost <= this.size.limit) return now;
    return cost > this.size.limit ? Number.POSITIVE_INFINITY : this.#endsAt();
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
    this.size = size;
  }

  #endsAt(): number {
    return endOf(this.#startedAt, this.size.windowMs);
  }
}

/**
 * A log of the charges of the last `windowMs`: no interval `(t, t + windowMs]` holds more than the
 * limit. A charge counts for exactly `windowMs`.
 */
export class SlidingWindow extends RefilledLimit {
  readonly #log = new ChargeLog();
  /** When the oldest charge leaves the window. */
  #leavesAt = Number.POSITIVE_INFINITY;

  used(now: number): number {
    this.#leave(now);
    return this.#log.total;
  }

  readyAt(cost: number, now: number): number {
    const used = this.used(now);
    const excess = used + cost - this.size.limit;
    if (excess <= 0) return now;
    if (excess > used) return Number.POSITIVE_INFINITY;
    return endOf(this.#log.timeOf(excess), this.size.windowMs);
  }

  emptyAt(now: number): number {
    return this.used(now) === 0 ? now : endOf(this.#log.newest, this.size.windowMs);
  }

  charge(amount: number, now: number): number {
    this.#leave(now);
    const entry = this.#log.add(amount, now);
    // Earlier charges leave earlier.
    if (this.#leavesAt === Number.POSITIVE_INFINITY)
      this.#leavesAt = endOf(now, this.size.windowMs);
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
    this.size = size;
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
      : endOf(this.#log.oldest, this.size.windowMs);
  }
}
