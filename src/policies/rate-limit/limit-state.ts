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
   * The first time at which `cost` fits, if nothing else is charged. Not later than `now`: it fits.
   * Infinity: it is above what the limit can ever let pass.
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
