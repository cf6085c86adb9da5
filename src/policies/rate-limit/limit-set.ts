import { checkAmount, checkInteger, wrongType } from '../../util/check.ts';
import type { LimitState } from './limit-state.ts';
import { type LimitRule, UnknownLimitError } from './rate-limit.ts';
import { Quota, TokenBucket } from './token-bucket.ts';
import { FixedWindow, SlidingWindow } from './windows.ts';

/** Costs in the order of the limits: integers >= 0. */
export type Costs = readonly number[];

/** Finds the indices of named costs, and checks them. */
class CostTable {
  readonly #names: readonly string[];
  readonly #places: ReadonlyMap<string, number>;

  constructor(names: readonly string[]) {
    this.#names = names;
    this.#places = new Map(names.map((name, index) => [name, index]));
  }

  /** @throws UnknownLimitError that lists the known limits */
  placeOf(name: string): number {
    const place = this.#places.get(name);
    if (place === undefined) throw new UnknownLimitError(name, this.#names);
    return place;
  }

  /** `amounts` with the named ones replaced, rounded up so that sums stay exact. */
  replaced(amounts: Costs, named: Readonly<Record<string, number>>, what: string): Costs {
    if (typeof named !== 'object' || named === null) {
      wrongType(what, 'an object of numbers', named);
    }
    const replaced = amounts.slice();
    for (const name of Object.keys(named)) {
      const place = this.placeOf(name);
      const amount = named[name] as number;
      replaced[place] =
        Number.isSafeInteger(amount) && amount >= 0
          ? amount
          : checkInteger(`${what}.${name}`, checkAmount(`${what}.${name}`, amount), 0);
    }
    return replaced;
  }
}

const ALGORITHMS = {
  'sliding-window': SlidingWindow,
  'token-bucket': TokenBucket,
  'fixed-window': FixedWindow,
} as const;

/** A limit, and its used amount. */
export interface NamedLimit {
  rule: LimitRule;
  readonly state: LimitState;
}

/** The effect of checked changes on the present limits. */
export interface CheckedChanges {
  readonly added: readonly LimitRule[];
  readonly resized: readonly { readonly limit: NamedLimit; readonly rule: LimitRule }[];
  /** Names of limits that are removed, or were removed before. */
  readonly removed: readonly string[];
}

/** The limits at one time. Charges to them are settled with them. */
export class LimitSet {
  readonly limits: readonly NamedLimit[];
  readonly names: readonly string[];
  readonly table: CostTable;
  readonly free: Costs;
  /** Whose limits these are. */
  private readonly of: object;

  constructor(limits: readonly NamedLimit[], of: object) {
    this.limits = limits;
    this.names = limits.map(({ rule }) => rule.name);
    this.table = new CostTable(this.names);
    this.free = limits.map(() => 0);
    this.of = of;
  }

  isOf(owner: object): boolean {
    return this.of === owner;
  }

  find(name: string): NamedLimit | undefined {
    return this.limits.find(({ rule }) => rule.name === name);
  }

  /** The index of the limit that lets these costs pass last; -1: all limits let them pass now. */
  bindingIndex(costs: Costs, now: number): number {
    let binding = -1;
    let latest = now;
    for (let index = 0; index < this.limits.length; index += 1) {
      const readyAt = this.readyAt(index, costs, now);
      if (readyAt > latest) {
        latest = readyAt;
        binding = index;
      }
    }
    return binding;
  }

  /** When these costs fit the limit at this index. */
  readyAt(index: number, costs: Costs, now: number): number {
    const { rule, state } = this.limits[index] as NamedLimit;
    return state.readyAt(rule.charge === 'actual' ? 0 : (costs[index] as number), now);
  }

  /** Adds and removes limits; those that stay keep their used amounts. */
  changed(added: readonly LimitRule[], removed: readonly string[], now: number): LimitSet {
    const kept = this.limits.filter(({ rule }) => !removed.includes(rule.name));
    return new LimitSet([...kept, ...added.map((rule) => startOf(rule, now))], this.of);
  }
}

/** Makes a limit. The amount that is not available at the start counts as charged now. */
export function startOf(rule: LimitRule, now: number): NamedLimit {
  const isQuota = rule.windowMs === Number.POSITIVE_INFINITY;
  const state = isQuota ? new Quota(rule) : new ALGORITHMS[rule.algorithm](rule);
  const missing = Math.ceil(rule.maxCost - rule.initial);
  if (missing > 0) state.charge(missing, now);
  return { rule, state };
}

/** The state of one limit, in its own unit and in milliseconds. */
export interface RateLimitUsage {
  readonly limit: number;
  /** Above `limit` when in debt, and when a bucket has saved a larger `burst`. */
  readonly used: number;
  /** The amount that could pass now, >= 0. */
  readonly available: number;
  /**
   * The time until all of it is available, if nothing more is charged; Infinity for a quota of
   * which some is used.
   */
  readonly resetMs: number;
}
