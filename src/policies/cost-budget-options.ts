import { checkOptions, number, type Option, orInfinity, word } from './option.ts';
import type { OnLimit } from './rate-limit-policy.ts';

/** Money is counted in whole billionths, so that sums of it are exact. */
export const UNITS = 1e9;

/** How much money requests may cost. */
export interface CostBudgetConfig {
  /** Money that any `windowMs` may cost, a number >= 0.01, in the currency of the prices. */
  readonly maxCost: number;
  /**
   * The window, in ms, >= 1: an hour is 3,600,000, a day 86,400,000. It rolls. Infinity: one budget
   * for all requests, which time does not refill.
   */
  readonly windowMs: number;
  /**
   * What happens to requests that do not fit, once no request in flight can give something back.
   * They fail with a `RateLimitExceededError`, or they wait. Default: `fail` if `windowMs` is
   * Infinity, else `wait`.
   */
  readonly onLimit?: OnLimit;
  /** Price of a million input tokens, >= 0. Default 0. */
  readonly inputPrice?: number;
  /** Price of a million input tokens that were read from a cache. Default: `inputPrice`. */
  readonly cachedPrice?: number;
  /** Price of a million output tokens, >= 0. Default 0. */
  readonly outputPrice?: number;
}

/** Whether money is limited. */
export interface CostBudgetOption {
  /**
   * A budget of money, rolling or for all requests. A request reserves its estimated cost. Its real cost replaces the
   * estimate: the recorded cost (`context.recordCost`), or the cost that follows from its usage and
   * the prices. Default: none.
   */
  readonly costBudget?: CostBudgetConfig;
}

/** The cost budget in one of several sources. */
export interface CostBudgetLayer {
  readonly costBudget?: Partial<CostBudgetConfig>;
}

/** Whether there is one budget for all requests. */
export function isWhole({ windowMs }: CostBudgetConfig): boolean {
  return windowMs === Number.POSITIVE_INFINITY;
}

/** What happens to requests that do not fit. */
export function onLimitOf(options: CostBudgetConfig): OnLimit {
  return options.onLimit ?? (isWhole(options) ? 'fail' : 'wait');
}

/** The size of the window, in billionths. */
export function sizeOf({ maxCost, windowMs }: CostBudgetConfig) {
  const limit = unitsIn(maxCost);
  return { limit, windowMs, maxCost: limit };
}

/** Money in billionths. */
export function unitsIn(cost: number): number {
  return Math.min(Number.MAX_SAFE_INTEGER / 2, Math.round(cost * UNITS));
}

export const COST_BUDGET_FIELDS = {
  maxCost: number(0.01, 'required', 'money', 'money that one window may cost'),
  windowMs: orInfinity(
    number(1, 'required', 'ms', 'the rolling window; Infinity: one budget for all requests'),
  ),
  onLimit: word(
    ['wait', 'fail'],
    'wait; fail if windowMs is Infinity',
    'whether requests wait or fail that do not fit when all estimates are settled',
  ),
  inputPrice: number(0, 0, 'money', 'price of a million input tokens'),
  cachedPrice: number(0, '`inputPrice`', 'money', 'price of a million tokens read from a cache'),
  outputPrice: number(0, 0, 'money', 'price of a million output tokens'),
} satisfies Record<keyof CostBudgetConfig, Option>;

export const COST_BUDGET_REQUIRED = ['maxCost', 'windowMs'];

/** @throws RangeError or TypeError that names a wrong option */
export function checkCostBudget(options: CostBudgetConfig): void {
  checkOptions(COST_BUDGET_FIELDS, options, COST_BUDGET_REQUIRED);
}
