import {
  type CheckedChanges,
  type Costs,
  LimitSet,
  type NamedLimit,
  type RateLimitUsage,
  startOf,
} from './limit-set.ts';
import { waitUntil } from './limit-state.ts';
import {
  CostAboveLimitError,
  checkRateLimits,
  type LimitRule,
  type RateLimit,
  RateLimitExceededError,
} from './rate-limit.ts';
import { Reservation } from './reservation.ts';

/** The binding limit, the request's cost of it, and when it would fit. */
export interface Shortage {
  readonly limit: string;
  readonly cost: number;
  readonly available: number;
  readonly retryAfterMs: number;
}

/**
 * Named rate limits that are checked and charged as one, all or none. A request passes if it fits
 * all of them; while a limit is in debt no request does, not even with a cost of 0.
 *
 * `now` is in milliseconds. A clock that steps back counts as standing still until it has caught
 * up, so that nothing passes too early.
 */
export class RateLimits {
  private set: LimitSet;
  /** Names of removed limits: costs for them are ignored. */
  private readonly removed = new Set<string>();
  /** The greatest expected cost of each limit that can pass. */
  private most: Costs;
  private now: number;

  /**
   * @param now when the limits begin: the amount that is not available at the start is charged then
   * @throws RangeError or TypeError that names the option, its bound and the value
   */
  constructor(limits: Readonly<Record<string, RateLimit>>, now = Number.NEGATIVE_INFINITY) {
    const rules = checkRateLimits(limits);
    this.now = now;
    this.set = new LimitSet(
      rules.map((rule) => startOf(rule, now)),
      this,
    );
    this.most = rules.map(mostOf);
  }

  get names(): readonly string[] {
    return this.set.names;
  }

  /** The present limits, in the order of costs. */
  get rules(): readonly LimitRule[] {
    return this.limits.map(({ rule }) => rule);
  }

  /** Whether a limit of this name exists or existed, so that requests may have a cost for it. */
  knows(name: string): boolean {
    return this.names.includes(name) || this.removed.has(name);
  }

  find(name: string): NamedLimit | undefined {
    return this.set.find(name);
  }

  /** Whether a limit of that name is charged the real usage. */
  isSettled(name: string): boolean {
    const limit = this.find(name);
    return limit !== undefined && limit.rule.charge !== 'upfront';
  }

  /**
   * The average that a limit permits, in its unit per second; undefined if no limit of this name
   * has a window.
   */
  perSecond(name: string): number | undefined {
    const rule = this.find(name)?.rule;
    if (rule === undefined || rule.windowMs === Number.POSITIVE_INFINITY) return undefined;
    return (rule.limit * 1000) / rule.windowMs;
  }

  /**
   * Costs in the form that the other methods take. Fractions are rounded up.
   * @param expected amounts for all limits, in their order: safe integers >= 0
   * @param named amounts that replace these
   * @throws UnknownLimitError, CostAboveLimitError; RangeError or TypeError for a value that is no
   * amount
   */
  costsFrom(expected: Costs, named: Readonly<Record<string, number>> | undefined): Costs {
    const costs =
      named === undefined ? expected : this.set.table.replaced(expected, named, 'costs');
    const error = this.aboveLimit(costs);
    if (error !== undefined) throw error;
    return costs;
  }

  /**
   * The longest wait that any limit needs: 0, the request may pass now. After exactly this wait it
   * passes, if nothing else is charged meanwhile; before, it does not. Infinity: a quota is used
   * up, or the cost is above a limit that was lowered since, see `aboveLimit`.
   */
  wait(costs: Costs, now: number): number {
    const at = this.advance(now);
    const index = this.set.bindingIndex(costs, at);
    return index < 0 ? 0 : waitUntil(this.set.readyAt(index, costs, at), now);
  }

  /** The limit with the longest wait; undefined if none needs a wait. */
  binding(costs: Costs, now: number): string | undefined {
    return this.limits[this.set.bindingIndex(costs, this.advance(now))]?.rule.name;
  }

  /**
   * The shortage that keeps a request from passing; undefined if there is none. `retryAfterMs` is
   * Infinity if it never passes.
   */
  shortage(costs: Costs, now: number): Shortage | undefined {
    const at = this.advance(now);
    const index = this.set.bindingIndex(costs, at);
    const limit = this.limits[index];
    if (limit === undefined) return undefined;
    const retryAfterMs = waitUntil(this.set.readyAt(index, costs, at), now);
    const available = limit.state.available(at);
    return { limit: limit.rule.name, cost: costs[index] as number, available, retryAfterMs };
  }

  /** The shortage as an error, for requests that do not wait. */
  refusal(costs: Costs, now: number): RateLimitExceededError | CostAboveLimitError | undefined {
    const shortage = this.shortage(costs, now);
    if (shortage === undefined) return undefined;
    const { limit, cost, available, retryAfterMs } = shortage;
    const error = retryAfterMs === Number.POSITIVE_INFINITY ? this.aboveLimit(costs) : undefined;
    return error ?? new RateLimitExceededError(limit, cost, available, retryAfterMs);
  }

  /** Whether a limit can ever admit this cost. */
  holds(index: number, cost: number): boolean {
    return cost <= (this.most[index] as number);
  }

  /** The error of costs that no wait is enough for; undefined if a wait is enough. */
  aboveLimit(costs: Costs): CostAboveLimitError | undefined {
    for (let index = 0; index < costs.length; index += 1) {
      const cost = costs[index] as number;
      if (this.holds(index, cost)) continue;
      const { name, maxCost } = (this.limits[index] as NamedLimit).rule;
      return new CostAboveLimitError(name, cost, maxCost);
    }
    return undefined;
  }

  /**
   * Charges a request to every limit. Ask `wait` first: an amount that does not fit makes a debt.
   */
  take(costs: Costs, now: number): Reservation {
    const at = this.advance(now);
    const reservation = new Reservation(this.set, costs);
    for (let index = 0; index < this.limits.length; index += 1) {
      const { rule, state } = this.limits[index] as NamedLimit;
      const cost = costs[index] as number;
      if (cost === 0) continue;
      if (isActual(rule)) reservation.isDue = true;
      else reservation.setMark(index, state.charge(cost, at));
    }
    return reservation;
  }

  /** Charges usage outside of requests, whether it fits or not. @throws as `settle` */
  charge(used: Readonly<Record<string, number>>, now: number): void {
    const amounts = this.set.table.replaced(this.set.free, used, 'used');
    const at = this.advance(now);
    for (let index = 0; index < amounts.length; index += 1) {
      const amount = amounts[index] as number;
      if (amount > 0) (this.limits[index] as NamedLimit).state.charge(amount, at);
    }
  }

  /**
   * Ends a reservation whose costs were as expected. @returns false, and does nothing, if a limit
   * is still to be charged: then `settle` is needed
   */
  conclude(reservation: Reservation): boolean {
    if (reservation.isDue) return false;
    reservation.end();
    return true;
  }

  /**
   * Corrects a charge to the real usage, by the `charge` of each limit. Unnamed amounts are as
   * expected. An excess is charged now and may make a debt.
   * @returns false, and does nothing, for a reservation that has ended or belongs to other limits
   * @throws as `costsFrom`, except for too large amounts; then the reservation stays
   */
  settle(
    reservation: Reservation,
    actual: Readonly<Record<string, number>> | undefined,
    now: number,
  ): boolean {
    const { costs, owner } = reservation;
    if (owner === undefined || !owner.isOf(this)) return false;
    const amounts = actual === undefined ? costs : owner.table.replaced(costs, actual, 'actual');
    reservation.settle(amounts, this.advance(now));
    return true;
  }

  /**
   * Gives back the part of a charge that is still counted: the request was never sent, or the
   * provider rejected it and does not count rejected requests.
   * @returns false, and does nothing, for a reservation that has ended or belongs to other limits
   */
  refund(reservation: Reservation, now: number): boolean {
    const { owner } = reservation;
    if (owner === undefined || !owner.isOf(this)) return false;
    reservation.refund(this.advance(now));
    return true;
  }

  /** All limits by name. */
  usage(now: number): Readonly<Record<string, RateLimitUsage>> {
    const at = this.advance(now);
    return Object.fromEntries(
      this.limits.map(({ rule, state }) => {
        const used = state.used(at);
        const available = state.available(at);
        const resetMs = used === 0 ? 0 : waitUntil(state.emptyAt(at), now);
        return [rule.name, { limit: rule.limit, used, available, resetMs }];
      }),
    );
  }

  /**
   * Changes limits while running. A limit that is not named stays, and a null removes a limit. The
   * used amounts stay: a raised limit admits at once, a lowered one admits nothing while it is
   * exceeded. Charges of a removed limit are settled with that limit only, and an added limit is
   * not charged for earlier requests.
   * @returns whether there are other limits now
   */
  configure({ added, resized, removed }: CheckedChanges, now: number): boolean {
    const at = this.advance(now);
    for (const { limit, rule } of resized) {
      limit.state.resize(rule, at);
      limit.rule = rule;
    }
    const isChanged = added.length > 0 || removed.some((name) => this.find(name));
    if (isChanged) this.set = this.set.changed(added, removed, at);
    for (const name of removed) this.removed.add(name);
    for (const { name } of added) this.removed.delete(name);
    this.most = this.limits.map(({ rule }) => mostOf(rule));
    return isChanged;
  }

  private get limits(): readonly NamedLimit[] {
    return this.set.limits;
  }

  private advance(now: number): number {
    if (now > this.now) this.now = now;
    return this.now;
  }
}

function isActual({ charge }: LimitRule): boolean {
  return charge === 'actual';
}

/** A limit that is charged only the actual amount has no expected cost. */
function mostOf(rule: LimitRule): number {
  return isActual(rule) ? Number.POSITIVE_INFINITY : rule.maxCost;
}
