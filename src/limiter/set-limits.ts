import {
  checkChanges,
  type LimitChanges,
  limitsToAdd,
} from '../policies/rate-limit/limit-changes.ts';
import { checkRateLimits, UnknownLimitError } from '../policies/rate-limit/rate-limit.ts';
import { Quota } from '../policies/rate-limit/token-bucket.ts';
import type { RateLimitPolicy } from '../policies/rate-limit-policy.ts';
import type { RequestGate } from '../request/request-gate.ts';
import { checkNumber, show } from '../util/check.ts';

/**
 * Checks changes of the rate limits of a gate.
 * @returns makes the changes, for waiting requests too
 * @throws RangeError or TypeError for wrong values and for another algorithm; UnknownLimitError for
 *   the removal of a limit that never existed
 */
export function limitChange(gate: RequestGate, changes: LimitChanges): () => void {
  const { rateLimit } = gate.policies;
  if (rateLimit !== undefined) {
    const checked = checkChanges(changes, rateLimit.limits);
    return () => gate.changeLimits(checked);
  }
  const added = limitsToAdd(changes);
  checkRateLimits(added);
  return () => gate.addLimits(added);
}

/**
 * Makes more of a quota available, at once and for good.
 * @throws RangeError or TypeError for a value that is no amount, or a limit that time refills;
 *   UnknownLimitError
 */
export function addToQuota(
  policy: RateLimitPolicy | undefined,
  name: string,
  amount: number,
  now: number,
): void {
  checkNumber('amount', amount, 0);
  const limit = policy?.limits.find(name);
  if (policy === undefined || limit === undefined) {
    throw new UnknownLimitError(name, policy?.limits.names ?? []);
  }
  const { state, rule } = limit;
  if (!(state instanceof Quota)) {
    throw new TypeError(
      `\`limits.${name}\` must have \`windowMs\` Infinity to be added to, got ${show(rule.windowMs)}`,
    );
  }
  const size = state.add(amount);
  const resized = [{ limit, rule: { ...rule, limit: size, maxCost: size } }];
  policy.configure({ added: [], resized, removed: [] }, now);
}
