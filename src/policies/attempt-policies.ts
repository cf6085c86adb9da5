import { AdaptiveRatePolicy } from './adaptive-rate-policy.ts';
import { Composite, type Part } from './composite.ts';
import { PacePolicy } from './pace-policy.ts';
import { attemptParts, type Policies } from './policies.ts';
import type { Policy } from './policy.ts';

/** The policies that a gate asks for each attempt, the backoff first. */
export class AttemptPolicies {
  /** All of them as one, for changes by time alone. */
  readonly all: Composite;
  /** What the gate asks: the same, or less where less is on. */
  readonly asked: Policy;
  private readonly others: readonly Part[];

  /** @param stored stands for limits that are kept in a store, and for the own rate limits */
  constructor(policies: Policies, backoff: Policy<number>, stored: Policy | undefined) {
    this.others = attemptParts(policies, stored);
    this.all = new Composite([{ kind: 'backoff', policy: backoff }, ...this.others]);
    this.asked = askedOf(backoff, this.others, this.all);
  }

  /** Whether one of them counts what answers say that they have used. */
  get readsUsage(): boolean {
    return this.others.some(({ policy }) => policy.readsUsage === true);
  }
}

/** By default only the adaptive rate is on, which needs no record of charges. */
function askedOf(backoff: Policy<number>, others: readonly Part[], all: Composite): Policy {
  const [first, ...more] = others;
  if (first === undefined) return backoff;
  const isAlone = more.length === 0 && first.policy instanceof AdaptiveRatePolicy;
  return isAlone ? new PacePolicy(backoff, first.policy) : all;
}
