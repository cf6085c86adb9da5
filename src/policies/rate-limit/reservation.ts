import type { Costs } from './costs.ts';
import type { LimitSet } from './limit-set.ts';

/** The id of a charge that was not made. */
export const NOTHING = -1;

/** The charges of a request. It ends with the first `settle` or `refund`. */
export class Reservation {
  /** @internal The limits that were charged; undefined when it has ended. */
  owner: LimitSet | undefined;
  /** @internal the expected costs of the request */
  readonly costs: Costs;
  /** The ids for the first two limits, without an array: most requests have no more. */
  private first = NOTHING;
  private second = NOTHING;
  private others: number[] | undefined = undefined;

  /** @internal */
  constructor(owner: LimitSet, costs: Costs) {
    this.owner = owner;
    this.costs = costs;
  }

  /** @internal the id of the charge for the limit at this index, or `NOTHING` */
  markAt(index: number): number {
    if (index === 0) return this.first;
    if (index === 1) return this.second;
    return this.others?.[index - 2] ?? NOTHING;
  }

  /** @internal */
  setMark(index: number, mark: number): void {
    if (index === 0) this.first = mark;
    else if (index === 1) this.second = mark;
    else {
      this.others ??= [];
      this.others[index - 2] = mark;
    }
  }
}

/** The state of one limit, in its own unit and in milliseconds. */
export interface RateLimitUsage {
  readonly limit: number;
  /** Above `limit` when in debt. */
  readonly used: number;
  /** The amount that could pass now, >= 0. */
  readonly available: number;
  /** Until all of it is available, if nothing more is charged; Infinity: a quota of which some is used. */
  readonly resetMs: number;
}
