import type { LimitReports } from './limit-reports.ts';
import { leftOf, type Report, spareOf } from './report.ts';

/** A bucket that holds less is empty before its rate matters. */
const LEAST_HELD = 20;
/** Timers are not shorter. */
const LEAST_WAIT_MS = 1;

/**
 * The rate of a bucket that is nearly empty before its refill is measured, by its documented window:
 * until a rejection comes, that bounds how much is sent in vain.
 */
export function unmeasuredAt(
  report: Report,
  reports: LimitReports,
  total: number,
  now: number,
): number | undefined {
  if (reports.highest < LEAST_HELD || reports.hasRejected) return undefined;
  const perMs = Math.max(report.promisedPerMs, report.limit / report.windowMs);
  return leftOf(report, perMs, total, now) > spareOf(report, reports) ? undefined : perMs;
}

/** How much may be sent at once while no rate holds attempts back. */
export function bucketLeft(
  report: Report,
  reports: LimitReports,
  total: number,
  now: number,
): number {
  const perMs = Math.max(reports.refillPerMs, report.promisedPerMs);
  return Math.max(1, leftOf(report, perMs, total, now));
}

/** Milliseconds until it has refilled to a cost that exceeds the amount left unused. */
export function bucketWait(
  report: Report,
  reports: LimitReports,
  cost: number,
  total: number,
  now: number,
): number {
  const { highest, refillPerMs } = reports;
  if (!(refillPerMs > 0) || cost <= spareOf(report, reports)) return 0;
  const missing = Math.min(cost, highest) - leftOf(report, refillPerMs, total, now);
  return missing > 0 ? Math.max(LEAST_WAIT_MS, missing / refillPerMs) : 0;
}
