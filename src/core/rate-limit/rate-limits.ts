import { type Costs, CostTable } from './costs.ts';
import { CostAboveLimitError, RateLimitExceededError } from './errors.ts';
import { FixedWindow } from './fixed-window.ts';
import type { LimitState } from './limit-state.ts';
import { checkRateLimits, type LimitRule, type RateLimit } from './rate-limit.ts';
import { NOTHING, type RateLimitUsage, Reservation } from './reservation.ts';
import { SlidingWindow } from './sliding-window.ts';
import { waitUntil } from './time.ts';
import { TokenBucket } from './token-bucket.ts';

const ALGORITHMS = {
  'sliding-window': SlidingWindow,
  'token-bucket': TokenBucket,
  'fixed-window': FixedWindow,
} as const;

/** What a request needs of the limit that binds, and when it would fit. */
export interface Shortage {
  readonly limit: string;
  readonly cost: number;
  readonly available: number;
  readonly retryAfterMs: number;
}

interface NamedLimit {
  rule: LimitRule;
  readonly state: LimitState;
}

/**
 * Named rate limits that are checked and charged as one, all or none (seed: 001). A request passes
 * when it fits every one; while a limit is in debt nothing does, a cost of 0 neither.
 *
 * `now` is in milliseconds. A clock that runs backwards is taken to stand still until it has
 * caught up, so that nothing passes too early.
 */
export class RateLimits {
  readonly names: readonly string[];
  private readonly limits: readonly NamedLimit[];
  private readonly table: CostTable;
  private readonly free: Costs;
  /** Whether a limit is charged only when the actual is known. */
  private hasActual: boolean;
  /** The most that a request may be expected to cost of each limit. */
  private most: Costs;
  private now = Number.NEGATIVE_INFINITY;

  /** @throws RangeError or TypeError that names the option, its bound and the value */
  constructor(limits: Readonly<Record<string, RateLimit>>) {
    const rules = checkRateLimits(limits);
    this.limits = rules.map((rule) => ({ rule, state: new ALGORITHMS[rule.algorithm](rule) }));
    this.names = rules.map(({ name }) => name);
    this.table = new CostTable(this.names);
    this.free = rules.map(() => 0);
    this.hasActual = rules.some(isActual);
    this.most = rules.map(mostOf);
  }

  /** Whether a limit of that name is charged what was really used. */
  isSettled(name: string): boolean {
    const limit = this.limits.find(({ rule }) => rule.name === name);
    return limit !== undefined && limit.rule.charge !== 'upfront';
  }

  /** What a limit allows on average, in its unit a second; undefined: there is none of that name. */
  perSecond(name: string): number | undefined {
    const rule = this.limits.find((limit) => limit.rule.name === name)?.rule;
    return rule === undefined ? undefined : (rule.limit * 1000) / rule.windowMs;
  }

  /** A limit as an option, for who changes a part of it; undefined: there is none of that name. */
  optionsOf(name: string): RateLimit | undefined {
    const rule = this.limits.find((limit) => limit.rule.name === name)?.rule;
    if (rule === undefined) return undefined;
    const { limit, windowMs, algorithm, charge, maxCost } = rule;
    return { limit, windowMs, algorithm, charge, ...(maxCost !== limit && { burst: maxCost }) };
  }

  /** For how long a limit of that name saves what is not used, in ms: a bucket does, a window does not. */
  savesMs(name: string): number {
    const rule = this.limits.find((limit) => limit.rule.name === name)?.rule;
    if (rule === undefined || rule.algorithm !== 'token-bucket') return 0;
    return (rule.maxCost * rule.windowMs) / rule.limit;
  }

  /**
   * Named costs in the form that the other methods take. What is not named costs nothing;
   * fractions are rounded up.
   * @throws UnknownLimitError, CostAboveLimitError; RangeError or TypeError for what is no amount
   */
  costsOf(named: Readonly<Record<string, number>>): Costs {
    return this.costsFrom(this.free, named);
  }

  /**
   * The same, where amounts are expected of all limits, in their order: safe integers >= 0.
   * @throws as `costsOf` does
   */
  costsFrom(expected: Costs, named: Readonly<Record<string, number>> | undefined): Costs {
    const costs = named === undefined ? expected : this.table.replaced(expected, named, 'costs');
    const error = this.aboveLimit(costs);
    if (error !== undefined) throw error;
    return costs;
  }

  /**
   * The longest wait that any limit needs: 0, the request may pass now. After exactly this wait it
   * passes, if nothing else is charged meanwhile; before, it does not.
   * Infinity: a cost is above a limit that was lowered since, see `aboveLimit`.
   */
  wait(costs: Costs, now: number): number {
    const at = this.advance(now);
    const index = this.bindingIndex(costs, at);
    return index < 0 ? 0 : waitUntil(this.readyAt(index, costs, at), now);
  }

  /** The limit that needs the longest wait, or undefined if none needs any. */
  binding(costs: Costs, now: number): string | undefined {
    return this.limits[this.bindingIndex(costs, this.advance(now))]?.rule.name;
  }

  /** What keeps a request from passing now; undefined: nothing. `retryAfterMs` Infinity: for ever. */
  shortage(costs: Costs, now: number): Shortage | undefined {
    const at = this.advance(now);
    const index = this.bindingIndex(costs, at);
    const limit = this.limits[index];
    if (limit === undefined) return undefined;
    const retryAfterMs = waitUntil(this.readyAt(index, costs, at), now);
    const available = limit.state.available(at);
    return { limit: limit.rule.name, cost: costs[index] as number, available, retryAfterMs };
  }

  /** The same as an error, for those that will not wait. */
  refusal(costs: Costs, now: number): RateLimitExceededError | CostAboveLimitError | undefined {
    const shortage = this.shortage(costs, now);
    if (shortage === undefined) return undefined;
    const { limit, cost, available, retryAfterMs } = shortage;
    if (retryAfterMs === Number.POSITIVE_INFINITY) return this.aboveLimit(costs);
    return new RateLimitExceededError(limit, cost, available, retryAfterMs);
  }

  /** Whether a cost can ever pass one of the limits. */
  holds(index: number, cost: number): boolean {
    return cost <= (this.most[index] as number);
  }

  /** The error of costs that no wait is enough for; undefined if there are none. */
  aboveLimit(costs: Costs): CostAboveLimitError | undefined {
    for (let index = 0; index < costs.length; index += 1) {
      const cost = costs[index] as number;
      if (this.holds(index, cost)) continue;
      const { name, maxCost } = (this.limits[index] as NamedLimit).rule;
      return new CostAboveLimitError(name, cost, maxCost);
    }
    return undefined;
  }

  /** Charges a request to every limit. Ask `wait` first: what does not fit makes a debt. */
  take(costs: Costs, now: number): Reservation {
    const at = this.advance(now);
    const reservation = new Reservation(this, costs);
    for (let index = 0; index < this.limits.length; index += 1) {
      const { rule, state } = this.limits[index] as NamedLimit;
      const cost = costs[index] as number;
      const isCharged = cost > 0 && rule.charge !== 'actual';
      if (isCharged) reservation.setMark(index, state.charge(cost, at));
    }
    return reservation;
  }

  /** Charges what was used beside all requests, whether it fits or not. @throws as `settle` does */
  charge(used: Readonly<Record<string, number>>, now: number): void {
    const amounts = this.table.replaced(this.free, used, 'used');
    const at = this.advance(now);
    for (let index = 0; index < amounts.length; index += 1) {
      const amount = amounts[index] as number;
      if (amount > 0) (this.limits[index] as NamedLimit).state.charge(amount, at);
    }
  }

  /**
   * Ends a reservation that cost what was expected. @returns false, and does nothing, where a limit
   * is charged the actual alone: then `settle` has to
   */
  conclude(reservation: Reservation): boolean {
    if (this.hasActual) return false;
    if (reservation.owner === this) reservation.owner = undefined;
    return true;
  }

  /**
   * Corrects a charge to what was really used, as the `charge` of each limit has it. What was not
   * named is taken to be as expected. More than expected is charged now and may make a debt.
   * @returns false, and does nothing, for a reservation that has ended or is of other limits
   * @throws as `costsOf` does, except that nothing is too much; the reservation goes on then
   */
  settle(
    reservation: Reservation,
    actual: Readonly<Record<string, number>> | undefined,
    now: number,
  ): boolean {
    if (reservation.owner !== this) return false;
    const { costs } = reservation;
    const amounts = actual === undefined ? costs : this.table.replaced(costs, actual, 'actual');
    reservation.owner = undefined;
    const at = this.advance(now);
    for (let index = 0; index < costs.length; index += 1) {
      const { rule, state } = this.limits[index] as NamedLimit;
      if (rule.charge === 'upfront') continue;
      const mark = reservation.markAt(index);
      const charged = mark === NOTHING ? 0 : (costs[index] as number);
      const more = (amounts[index] as number) - charged;
      if (more > 0) state.charge(more, at);
      else if (more < 0) state.giveBack(-more, mark, at);
    }
    return true;
  }

  /**
   * Gives back what is still counted of a charge: the request was never sent, or the provider
   * rejected it and does not count what it rejects.
   * @returns false, and does nothing, for a reservation that has ended or is of other limits
   */
  refund(reservation: Reservation, now: number): boolean {
    if (reservation.owner !== this) return false;
    reservation.owner = undefined;
    const at = this.advance(now);
    for (let index = 0; index < reservation.costs.length; index += 1) {
      const mark = reservation.markAt(index);
      if (mark === NOTHING) continue;
      const cost = reservation.costs[index] as number;
      (this.limits[index] as NamedLimit).state.giveBack(cost, mark, at);
    }
    return true;
  }

  /** Every limit by its name. */
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
   * Changes limits while running; those that are not named stay. What is used stays used: a raised
   * limit admits at once, a lowered one admits nothing until it is no longer exceeded.
   * @throws for nonsense, unknown names and another algorithm, and then changes nothing
   */
  configure(limits: Readonly<Record<string, RateLimit>>, now: number): void {
    this.prepare(limits)(now);
  }

  /** Checks changes as `configure` does. @returns makes them */
  prepare(limits: Readonly<Record<string, RateLimit>>): (now: number) => void {
    const changes = checkRateLimits(limits).map((rule) => {
      const limit = this.limits[this.table.placeOf(rule.name)] as NamedLimit;
      if (rule.algorithm !== limit.rule.algorithm) {
        throw new TypeError(
          `\`limits.${rule.name}.algorithm\` must stay "${limit.rule.algorithm}" while running, got "${rule.algorithm}"`,
        );
      }
      return { limit, rule };
    });
    return (now) => {
      const at = this.advance(now);
      for (const { limit, rule } of changes) {
        limit.state.resize(rule, at);
        limit.rule = rule;
      }
      this.hasActual = this.limits.some(({ rule }) => isActual(rule));
      this.most = this.limits.map(({ rule }) => mostOf(rule));
    };
  }

  private advance(now: number): number {
    if (now > this.now) this.now = now;
    return this.now;
  }

  private bindingIndex(costs: Costs, at: number): number {
    let binding = -1;
    let latest = at;
    for (let index = 0; index < this.limits.length; index += 1) {
      const readyAt = this.readyAt(index, costs, at);
      if (readyAt > latest) {
        latest = readyAt;
        binding = index;
      }
    }
    return binding;
  }

  private readyAt(index: number, costs: Costs, at: number): number {
    const { rule, state } = this.limits[index] as NamedLimit;
    return state.readyAt(rule.charge === 'actual' ? 0 : (costs[index] as number), at);
  }
}

function isActual({ charge }: LimitRule): boolean {
  return charge === 'actual';
}

/** What is charged when it is known may be anything. */
function mostOf(rule: LimitRule): number {
  return isActual(rule) ? Number.POSITIVE_INFINITY : rule.maxCost;
}
