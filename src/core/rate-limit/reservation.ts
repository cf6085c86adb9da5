import type { Costs } from './costs.ts';

/** The mark of what was not charged. */
export const NOTHING = -1;

/** What a request was charged. Ends with the first of `settle` and `refund`. */
export class Reservation {
  /** @internal Whose limits were charged; undefined when it has ended. */
  owner: object | undefined;
  /** @internal What the request was expected to cost. */
  readonly costs: Costs;
  /** @internal By which each limit knows its charge. */
  readonly marks: readonly number[];

  /** @internal */
  constructor(owner: object, costs: Costs, marks: readonly number[]) {
    this.owner = owner;
    this.costs = costs;
    this.marks = marks;
  }
}

/** One limit, in its own unit and in milliseconds. */
export interface RateLimitUsage {
  readonly limit: number;
  /** Above `limit` when in debt. */
  readonly used: number;
  /** What could pass now, >= 0. */
  readonly available: number;
  /** Until all of it is available, if nothing more is charged. */
  readonly resetMs: number;
}
