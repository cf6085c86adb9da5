import { checkChanges, type LimitChanges } from '../../src/policies/rate-limit/limit-changes.ts';
import type { RateLimits } from '../../src/policies/rate-limit/rate-limits.ts';

/** Checks and makes changes of limits. @returns whether there are other limits now */
export function changeLimits(limits: RateLimits, changes: LimitChanges, now: number): boolean {
  return limits.configure(checkChanges(changes, limits), now);
}
