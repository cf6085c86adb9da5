import type { Costs } from '../../src/policies/rate-limit/limit-set.ts';
import type { RateLimits } from '../../src/policies/rate-limit/rate-limits.ts';

/** Costs by name, in the order of the limits; unnamed ones are 0. */
export function costsOf(limits: RateLimits, named: Readonly<Record<string, number>>): Costs {
  const free = limits.rules.map(() => 0);
  return limits.costsFrom(free, named);
}
