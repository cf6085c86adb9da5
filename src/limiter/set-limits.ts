import {
  checkChanges,
  type LimitChanges,
  limitsToAdd,
} from '../policies/rate-limit/limit-changes.ts';
import type { RequestGate } from '../request/request-gate.ts';

/**
 * Changes the rate limits of a gate, for waiting requests too.
 * @throws RangeError or TypeError for wrong values and for another algorithm; UnknownLimitError for
 *   the removal of a limit that never existed. Then nothing is changed
 */
export function setLimits(gate: RequestGate, changes: LimitChanges): void {
  const { rateLimit } = gate.policies;
  if (rateLimit === undefined) gate.addLimits(limitsToAdd(changes));
  else gate.changeLimits(checkChanges(changes, rateLimit.limits));
}
