import { HeadgateError } from '../../model/errors.ts';
import { checkBetween, checkKeys, checkNamed, show } from '../../util/check.ts';
import { closestMatch } from '../../util/closest-match.ts';
import { checkOptions, number, type Option, orInfinity, word } from '../option.ts';

/** A cost or a usage was given for a limit that does not exist. */
export class UnknownLimitError extends HeadgateError {
  readonly code = 'UNKNOWN_LIMIT';
  readonly limit: string;
  /** The known limits. */
  readonly known: readonly string[];

  override get name(): string {
    return 'UnknownLimitError';
  }

  constructor(limit: string, known: readonly string[]) {
    const names = known.map((name) => `"${name}"`).join(', ') || 'none';
    const meant = closestMatch(limit, known);
    const advice = meant === undefined ? 'there' : `did you mean "${meant}"? There`;
    super(`no limit is named "${limit}"; ${advice} are ${names}`);
    this.limit = limit;
    this.known = known;
  }
}

/** A request costs more than its limit lets pass at once, so that no wait is enough. */
export class CostAboveLimitError extends HeadgateError {
  readonly code = 'COST_ABOVE_LIMIT';
  readonly limit: string;
  readonly cost: number;
  /** The largest cost that can pass: the limit, or the burst of a token bucket. */
  readonly maxCost: number;

  override get name(): string {
    return 'CostAboveLimitError';
  }

  constructor(limit: string, cost: number, maxCost: number) {
    super(`a cost of ${cost} can never pass the limit "${limit}", which takes ${maxCost} at most`);
    this.limit = limit;
    this.cost = cost;
    this.maxCost = maxCost;
  }
}

/**
 * A request does not fit a rate limit or the cost budget now, and `onLimit: 'fail'` does not let it
 * wait.
 */
export class RateLimitExceededError extends HeadgateError {
  readonly code = 'RATE_LIMIT_EXCEEDED';
  /** The limit with the longest wait; `costBudget`: the cost budget. */
  readonly limit: string;
  /** The request's cost of this limit. */
  readonly cost: number;
  /** The amount that this limit has left; 0 in debt. */
  readonly available: number;
  /**
   * The request would fit then, if no other passes before it; Infinity: a quota or the budget is
   * used up.
   */
  readonly retryAfterMs: number;

  override get name(): string {
    return 'RateLimitExceededError';
  }

  constructor(limit: string, cost: number, available: number, retryAfterMs: number) {
    const when =
      retryAfterMs === Number.POSITIVE_INFINITY
        ? 'time does not refill it'
        : `try again in ${Math.ceil(retryAfterMs)} ms`;
    // Money is counted in fractions.
    const left = Number.isInteger(cost) ? Math.floor(available) : available;
    super(`the rate limit "${limit}" has ${left} left of the ${cost} that are needed; ${when}`);
    this.limit = limit;
    this.cost = cost;
    this.available = available;
    this.retryAfterMs = retryAfterMs;
  }
}

/**
 * How a limit counts over time.
 * - `sliding-window`: no interval of `windowMs`, wherever it starts, holds more than `limit`.
 * - `token-bucket`: starts full with `burst` and is refilled evenly, `limit` a window.
 * - `fixed-window`: a count that ends `windowMs` after the charge that began it. Around the end of
 *   one window up to twice the limit may pass.
 */
export type RateLimitAlgorithm = 'sliding-window' | 'token-bucket' | 'fixed-window';

/**
 * When a request is charged.
 * - `upfront`: its cost as it passes, for good.
 * - `settle`: its cost as it passes, corrected to the actual when that is known.
 * - `actual`: only when the actual is known. Requests pass unless the limit is in debt.
 */
export type RateLimitCharge = 'upfront' | 'settle' | 'actual';

/** One rate limit: an amount per window. */
export interface RateLimit {
  /** The amount per window, in the limit's own unit; >= 1. */
  limit: number;
  /** Milliseconds, >= 1. Infinity: a quota, which time does not refill; see `limiter.add`. */
  windowMs: number;
  /** Default: `sliding-window`. A quota has none. */
  algorithm?: RateLimitAlgorithm;
  /** The capacity of a token bucket, >= 1; not for other algorithms. Default: `limit`. */
  burst?: number;
  /** Default: `upfront`. */
  charge?: RateLimitCharge;
  /**
   * The amount available at the start, >= 0: the rest counts as charged at that time. Default: all.
   */
  initial?: number;
}

/** A checked limit with its defaults. */
export interface LimitRule {
  readonly name: string;
  readonly limit: number;
  readonly windowMs: number;
  readonly algorithm: RateLimitAlgorithm;
  /** The largest cost that can ever pass: the burst of a token bucket, else the limit. */
  readonly maxCost: number;
  readonly charge: RateLimitCharge;
  /** The amount available at the start. */
  readonly initial: number;
}

export const LIMIT_FIELDS = {
  limit: number(1, 'required', "the limit's own", 'amount that one window allows'),
  windowMs: orInfinity(
    number(1, 'required', 'ms', 'the window; Infinity: a quota that time does not refill'),
  ),
  algorithm: word(
    ['sliding-window', 'token-bucket', 'fixed-window'],
    'sliding-window',
    'how usage counts over time',
  ),
  burst: number(
    1,
    '`limit`',
    "the limit's own",
    'capacity of a token bucket; for no other algorithm',
  ),
  charge: word(
    ['upfront', 'settle', 'actual'],
    'upfront',
    'charges the estimate, the estimate and then the correction, or the actual amount',
  ),
  initial: number(0, '`limit`', "the limit's own", 'amount that is available at the start'),
} satisfies Record<keyof RateLimit, Option>;

export const REQUIRED_FIELDS = ['limit', 'windowMs'];

/** @throws RangeError or TypeError that names the option, its bound and the value */
export function checkRateLimits(limits: Readonly<Record<string, RateLimit>>): LimitRule[] {
  return checkNamed('limits', limits).map(([name, limit]) =>
    checkRateLimit(name, limit as RateLimit),
  );
}

function checkRateLimit(name: string, options: RateLimit): LimitRule {
  const path = `limits.${name}`;
  checkKeys(path, options, Object.keys(LIMIT_FIELDS));
  // The bound of `initial` depends on the others.
  checkOptions(LIMIT_FIELDS, { ...options, initial: undefined }, REQUIRED_FIELDS, `${path}.`);
  const { limit, windowMs, algorithm = 'sliding-window', burst, charge = 'upfront' } = options;
  if (windowMs === Number.POSITIVE_INFINITY && options.algorithm !== undefined) {
    throw new TypeError(
      `\`${path}.algorithm\` belongs to a limit with a window, and \`${path}.windowMs\` is Infinity; got ${show(algorithm)}`,
    );
  }
  checkBurst(`${path}.burst`, burst, algorithm);
  const maxCost = burst ?? limit;
  const { initial = maxCost } = options;
  checkBetween(`${path}.initial`, initial, 0, maxCost);
  return { name, limit, windowMs, algorithm, maxCost, charge, initial };
}

/** @throws TypeError for a burst without a bucket */
export function checkBurst(
  path: string,
  burst: number | undefined,
  algorithm: RateLimitAlgorithm,
): void {
  if (burst === undefined || algorithm === 'token-bucket') return;
  throw new TypeError(
    `\`${path}\` belongs to a token-bucket, not a ${algorithm}; got ${show(burst)}`,
  );
}
