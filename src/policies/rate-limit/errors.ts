import { HeadgateError } from '../../model/errors.ts';
import { closestMatch } from '../../util/closest-match.ts';

/** A cost or a usage was given for a limit that does not exist. */
export class UnknownLimitError extends HeadgateError {
  readonly code = 'UNKNOWN_LIMIT';
  readonly limit: string;
  /** The known limits. */
  readonly known: readonly string[];
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
  constructor(limit: string, cost: number, maxCost: number) {
    super(`a cost of ${cost} can never pass the limit "${limit}", which takes ${maxCost} at most`);
    this.limit = limit;
    this.cost = cost;
    this.maxCost = maxCost;
  }
}

/** A request does not fit a rate limit now, and `onLimit: 'fail'` does not let it wait. */
export class RateLimitExceededError extends HeadgateError {
  readonly code = 'RATE_LIMIT_EXCEEDED';
  /** The limit with the longest wait. */
  readonly limit: string;
  /** The request's cost of this limit. */
  readonly cost: number;
  /** The amount that this limit has left; 0 in debt. */
  readonly available: number;
  /** The request would fit then, if no other passes before it; Infinity: a quota is used up. */
  readonly retryAfterMs: number;
  constructor(limit: string, cost: number, available: number, retryAfterMs: number) {
    const when =
      retryAfterMs === Number.POSITIVE_INFINITY
        ? 'time does not refill it'
        : `try again in ${Math.ceil(retryAfterMs)} ms`;
    super(
      `the rate limit "${limit}" has ${Math.floor(available)} left of the ${cost} that are needed; ${when}`,
    );
    this.limit = limit;
    this.cost = cost;
    this.available = available;
    this.retryAfterMs = retryAfterMs;
  }
}
