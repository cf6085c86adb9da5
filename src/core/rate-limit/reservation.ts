import type { Costs } from './costs.ts';
import type { LimitSet } from './limit-set.ts';

/** The mark of what was not charged. */
export const NOTHING = -1;

/** What a request was charged. Ends with the first of `settle` and `refund`. */
export class Reservation {
  /** @internal The limits that were charged; undefined when it has ended. */
  owner: LimitSet | undefined;
  /** @internal What the request was expected to cost. */
  readonly costs: Costs;
  /** Marks of the first two limits: most have no more, and an array is larger than what it holds. */
  private first = NOTHING;
  private second = NOTHING;
  private others: number[] | undefined = undefined;

  /** @internal */
  constructor(owner: LimitSet, costs: Costs) {
    this.owner = owner;
    this.costs = costs;
  }

  /** @internal by which the limit at this place knows its charge, or `NOTHING` */
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

/** One limit, in its own unit and in milliseconds. */
export interface RateLimitUsage {
  readonly limit: number;
  /** Above `limit` when in debt. */
  readonly used: number;
  /** What could pass now, >= 0. */
  readonly available: number;
  /** Until all of it is available, if nothing more is charged; Infinity: a quota of which some is used. */
  readonly resetMs: number;
}
