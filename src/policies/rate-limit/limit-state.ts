import type { LimitRule } from './rate-limit.ts';

/** The size of a limit. */
export type LimitSize = Pick<LimitRule, 'limit' | 'windowMs' | 'maxCost'>;

/**
 * One limit with one algorithm: a pure state machine. `now` never decreases; costs and amounts are
 * integers >= 0, so that sums are exact.
 */
export interface LimitState {
  /** The used amount; above the limit when in debt. */
  used(now: number): number;
  /** The amount that could be charged now, >= 0. */
  available(now: number): number;
  /**
   * The first time at which `cost` fits, if nothing else is charged. Not later than `now`: it fits
   * now. Infinity: the cost is above the greatest that can ever pass.
   */
  readyAt(cost: number, now: number): number;
  /** The time at which the limit is full again, if nothing else is charged. */
  emptyAt(now: number): number;
  /**
   * Charges an amount > 0, whether it fits or not: above the limit it makes a debt.
   * @returns an id >= 0 for `giveBack`
   */
  charge(amount: number, now: number): number;
  /** Takes back the part of a charge that is still counted. */
  giveBack(amount: number, mark: number, now: number): void;
  /** Changes the size. The used amount stays. */
  resize(size: LimitSize, now: number): void;
}

/** A limit that time refills. */
export abstract class RefilledLimit implements LimitState {
  protected size: LimitSize;

  constructor(size: LimitSize) {
    this.size = size;
  }

  available(now: number): number {
    return Math.max(0, this.size.maxCost - this.used(now));
  }

  abstract used(now: number): number;
  abstract readyAt(cost: number, now: number): number;
  abstract emptyAt(now: number): number;
  abstract charge(amount: number, now: number): number;
  abstract giveBack(amount: number, mark: number, now: number): void;
  abstract resize(size: LimitSize, now: number): void;
}

/** The next floating-point number above. */
function next(value: number): number {
  return value + Math.abs(value) * 0.75 * Number.EPSILON;
}

/**
 * `startMs + lengthMs`, rounded up if it cannot be stored exactly: a window must not end early.
 * The rounding error comes from Knuth's exact sum of two numbers (TAOCP 2, 4.2.2).
 */
export function endOf(startMs: number, lengthMs: number): number {
  const sum = startMs + lengthMs;
  const added = sum - startMs;
  const lost = startMs - (sum - added) + (lengthMs - added);
  return lost > 0 ? next(sum) : sum;
}

/** The wait from `now` to a later time, such that `now + wait` is not rounded to before it. */
export function waitUntil(time: number, now: number): number {
  let waitMs = time - now;
  while (now + waitMs < time) waitMs = next(waitMs);
  return waitMs;
}
