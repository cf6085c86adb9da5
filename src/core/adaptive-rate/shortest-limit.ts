import type { LimitUnit, ReportedLimit } from '../../model/feedback.ts';

/** What a longer window allows may be used at once. */
const LONGEST_WINDOW_MS = 3_600_000;

/**
 * Of several limits on one thing the one with the shortest window (that of a day paces nobody); one
 * whose window is not told goes before all. What makes no sense is left out.
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

/** 0: not told. */
function windowOf({ windowMs = 0 }: ReportedLimit): number {
  return windowMs;
}

/** A classifier of the user may say anything. */
function isSound({ limit, remaining, resetMs, windowMs }: ReportedLimit): boolean {
  if (limit === undefined || limit < 1 || (windowMs ?? 1) < 1) return false;
  return [limit, remaining, resetMs, windowMs].every(isAmount);
}

function isAmount(amount: number | undefined): boolean {
  return amount === undefined || (amount >= 0 && amount <= Number.MAX_SAFE_INTEGER);
}
