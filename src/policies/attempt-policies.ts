import { AdaptiveRatePolicy } from './adaptive-rate-policy.ts';
import { Composite, type Part } from './composite.ts';
import { attemptParts, type Policies } from './policies.ts';
import type { Policy } from './policy.ts';
import { PacePolicy } from './policy-pairs.ts';

/** The policies that are asked for each attempt, the backoff first. */
export class AttemptPolicies {
  /** All of them as one, for changes by time alone. */
  readonly all: Composite;
  /** The policy that the gate asks: all of them, or a cheaper one if fewer are on. */
  readonly asked: Policy;
  readonly #others: readonly Part[];

  /** @param stored the policy for limits in a store and for this worker's rate limits */
  constructor(policies: Policies, backoff: Policy<number>, stored: Policy | undefined) {
    this.#others = attemptParts(policies, stored);
    this.all = new Composite([{ kind: 'backoff', policy: backoff }, ...this.#others]);
    this.asked = askedOf(backoff, this.#others, this.all);
  }

  /** Whether a policy counts the usage that answers report. */
  get readsUsage(): boolean {
    return this.#others.some(({ policy }) => policy.readsUsage === true);
  }
}

/** By default only the adaptive rate is on, which needs no record of charges. */
function askedOf(backoff: Policy<number>, others: readonly Part[], all: Composite): Policy {
  const [first, ...more] = others;
  if (first === undefined) return backoff;
  const isAlone = more.length === 0 && first.policy instanceof AdaptiveRatePolicy;
  return isAlone ? new PacePolicy(backoff, first.policy) : all;
}
