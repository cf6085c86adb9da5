import type { LimitSize, LimitState } from './limit-state.ts';
import { endOf } from './time.ts';

/**
 * A count that begins with a charge and ends `windowMs` later, debt and all; the next window begins
 * with the next charge. A provider's windows cannot be seen from here, and multiples of `windowMs`
 * on a clock that counts from the start of a process would be no nearer to them: a window that
 * begins with its first charge is at least never cut short after an idle time.
 */
export class FixedWindow implements LimitState {
  private limit: number;
  private windowMs: number;
  private _used = 0;
  private startedAt = 0;
  /** How many windows have begun. A window that holds nothing has not. */
  private windows = 0;

  constructor(size: LimitSize) {
    this.limit = size.limit;
    this.windowMs = size.windowMs;
  }

  used(now: number): number {
    if (this._used > 0 && now >= this.endsAt()) this._used = 0;
    return this._used;
  }

  available(now: number): number {
    return Math.max(0, this.limit - this.used(now));
  }

  readyAt(cost: number, now: number): number {
    if (this.used(now) + cost <= this.limit) return now;
    return cost > this.limit ? Number.POSITIVE_INFINITY : this.endsAt();
  }

  emptyAt(now: number): number {
    return this.used(now) === 0 ? now : this.endsAt();
  }

  charge(amount: number, now: number): number {
    if (this.used(now) === 0) {
      this.startedAt = now;
      this.windows += 1;
    }
    this._used += amount;
    return this.windows;
  }

  /** What a window that is over did not use is lost. */
  giveBack(amount: number, mark: number, now: number): void {
    if (this.used(now) > 0 && mark === this.windows) this._used -= amount;
  }

  resize(size: LimitSize, now: number): void {
    this.used(now);
    this.limit = size.limit;
    this.windowMs = size.windowMs;
  }

  private endsAt(): number {
    return endOf(this.startedAt, this.windowMs);
  }
}
