import type { Costs, LimitSet, NamedLimit } from './limit-set.ts';

/** The id of a charge that was not made. */
const NOTHING = -1;

/** The charges of a request to its limits. It ends with the first `settle` or `refund`. */
export class Reservation {
  /** @internal The set of limits that were charged; undefined when it has ended. */
  owner: LimitSet | undefined;
  /** @internal the expected costs of the request */
  readonly costs: Costs;
  /** @internal Whether a limit is charged only when the actual amount is known. */
  isDue = false;
  /** The ids for the first two limits, without an array: most requests have no more. */
  private first = NOTHING;
  private second = NOTHING;
  private others: number[] | undefined = undefined;

  /** @internal */
  constructor(owner: LimitSet, costs: Costs) {
    this.owner = owner;
    this.costs = costs;
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

  /** @internal Ends it. @returns the limits that were charged; none: it had ended before */
  end(): readonly NamedLimit[] {
    const limits = this.owner?.limits ?? [];
    this.owner = undefined;
    return limits;
  }

  /** @internal Corrects the charges to these amounts, by the `charge` of each limit. */
  settle(amounts: Costs, now: number): void {
    const limits = this.end();
    for (let index = 0; index < limits.length; index += 1) {
      const { rule, state } = limits[index] as NamedLimit;
      if (rule.charge === 'upfront') continue;
      const mark = this.markAt(index);
      const charged = mark === NOTHING ? 0 : (this.costs[index] as number);
      const more = (amounts[index] as number) - charged;
      if (more > 0) state.charge(more, now);
      else if (more < 0) state.giveBack(-more, mark, now);
    }
  }

  /** @internal Gives back the part of the charges that is still counted. */
  refund(now: number): void {
    const limits = this.end();
    for (let index = 0; index < limits.length; index += 1) {
      const mark = this.markAt(index);
      if (mark === NOTHING) continue;
      const cost = this.costs[index] as number;
      (limits[index] as NamedLimit).state.giveBack(cost, mark, now);
    }
  }

  /** The id of the charge for the limit at this index, or `NOTHING`. */
  private markAt(index: number): number {
    if (index === 0) return this.first;
    if (index === 1) return this.second;
    return this.others?.[index - 2] ?? NOTHING;
  }
}
