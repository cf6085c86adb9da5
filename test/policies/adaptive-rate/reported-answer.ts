import type { ReportedLimit } from '../../../src/model/feedback.ts';
import type { ReportedRate } from '../../../src/policies/adaptive-rate/reported/reported-rate.ts';

/** A report after so many accepted attempts; the attempt itself is one more. */
export function report(
  rate: ReportedRate,
  at: number,
  order: number,
  limit: Partial<ReportedLimit>,
  { now = at, isAccepted = true, cost = 1 } = {},
): void {
  const attempt = { at, order, total: order, cost, isOwed: true };
  rate.record({ unit: 'requests', ...limit }, attempt, isAccepted, order + 1, now);
}

export const HUNDRED = { limit: 100, remaining: 51, windowMs: 10_000 };
