import { type Costs, CostTable } from './costs.ts';
import { FixedWindow } from './fixed-window.ts';
import type { LimitState } from './limit-state.ts';
import { Quota } from './quota.ts';
import type { LimitRule } from './rate-limit.ts';
import { SlidingWindow } from './sliding-window.ts';
import { TokenBucket } from './token-bucket.ts';

const ALGORITHMS = {
  'sliding-window': SlidingWindow,
  'token-bucket': TokenBucket,
  'fixed-window': FixedWindow,
} as const;

/** A limit, and what is used of it. */
export interface NamedLimit {
  rule: LimitRule;
  readonly state: LimitState;
}

/** The limits that were in force at one time: what was charged to them is settled with them. */
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

  /** Some limits added, and some left out; those that stay keep what is used of them. */
  changed(added: readonly LimitRule[], removed: readonly string[], now: number): LimitSet {
    const kept = this.limits.filter(({ rule }) => !removed.includes(rule.name));
    return new LimitSet([...kept, ...added.map((rule) => startOf(rule, now))], this.of);
  }
}

/** A new limit: what is not available at the start counts as charged now. */
export function startOf(rule: LimitRule, now: number): NamedLimit {
  const isQuota = rule.windowMs === Number.POSITIVE_INFINITY;
  const state = isQuota ? new Quota(rule) : new ALGORITHMS[rule.algorithm](rule);
  const missing = Math.ceil(rule.maxCost - rule.initial);
  if (missing > 0) state.charge(missing, now);
  return { rule, state };
}
