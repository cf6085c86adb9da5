import type { LimitRule } from './rate-limit.ts';

/** What an algorithm needs to know of its limit. */
export type LimitSize = Pick<LimitRule, 'limit' | 'windowMs' | 'maxCost'>;

/**
 * One limit by one algorithm: a pure state machine. `now` never runs backwards; costs and amounts
 * are integers >= 0, so that sums of them are exact.
 */
export interface LimitState {
  /** What is used now; above the limit when in debt. */
  used(now: number): number;
  /** What could be charged now, >= 0. */
  available(now: number): number;
  /**
   * The first time at which `cost` fits, if nothing else is charged. Not later than `now`: it fits.
   * Infinity: it is above what the limit can ever let pass.
   */
  readyAt(cost: number, now: number): number;
  /** The time at which nothing is used any more, if nothing else is charged. */
  emptyAt(now: number): number;
  /**
   * Charges an amount > 0, whether it fits or not: above the limit it makes a debt.
   * @returns a mark >= 0 to give it back by
   */
  charge(amount: number, now: number): number;
  /** Takes back what is still counted of a part of a charge. */
  giveBack(amount: number, mark: number, now: number): void;
  /** Goes on with another size. What is used stays used. */
  resize(size: LimitSize, now: number): void;
}
