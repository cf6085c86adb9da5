import type { LimitUnit, ReportedLimit } from '../../../model/feedback.ts';

/** The allowance of a longer window may be used at once. */
const LONGEST_WINDOW_MS = 3_600_000;

/**
 * The limit with the shortest window among several on one unit: a daily limit gives no pace. A
 * limit without a reported window comes first. Unusable reports are left out.
 */
export function shortestOf(
  limits: readonly ReportedLimit[],
  unit: LimitUnit,
): ReportedLimit | undefined {
  let shortest: ReportedLimit | undefined;
  for (const limit of limits) {
    if (limit.unit !== unit || !isSound(limit) || windowOf(limit) > LONGEST_WINDOW_MS) continue;
    if (shortest === undefined || windowOf(limit) < windowOf(shortest)) shortest = limit;
  }
  return shortest;
}

/** The window; 0 if it is not reported. */
function windowOf({ windowMs = 0 }: ReportedLimit): number {
  return windowMs;
}

/** A user's classifier may return any value. */
function isSound({ limit, remaining, resetMs, windowMs }: ReportedLimit): boolean {
  if (limit === undefined || limit < 1 || (windowMs ?? 1) < 1) return false;
  return [limit, remaining, resetMs, windowMs].every(isAmount);
}

function isAmount(amount: number | undefined): boolean {
  return amount === undefined || (amount >= 0 && amount <= Number.MAX_SAFE_INTEGER);
}
