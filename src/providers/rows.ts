import type { LimitUnit, ReportedLimit } from '../model/feedback.ts';
import type { HeaderGet, PartialVerdict } from './adapter.ts';
import { quotaIn } from './quotas.ts';
import { plainNumber, resetOf } from './times.ts';

export const MINUTE_MS = 60_000;
export const DAY_MS = 86_400_000;
/** A month of thirty days. */
export const MONTH_MS = 30 * DAY_MS;

/** The headers of one limit. */
export interface LimitRow {
  readonly unit: LimitUnit;
  readonly limit?: string;
  readonly remaining?: string;
  readonly reset?: string;
  readonly windowMs?: number;
}

/** Builds the report of a limit; undefined if nothing is known. */
export function reported(
  unit: LimitUnit,
  report: {
    readonly limit?: number | undefined;
    readonly remaining?: number | undefined;
    readonly resetMs?: number | undefined;
    readonly isResetTime?: boolean;
    readonly windowMs?: number | undefined;
  },
): ReportedLimit | undefined {
  // A limit of 0 does not apply, and what is left of it means nothing.
  const limit = report.limit !== undefined && report.limit > 0 ? report.limit : undefined;
  const isNone = limit === undefined && (report.limit !== undefined || report.remaining === 0);
  const remaining = isNone ? undefined : report.remaining;
  if (limit === undefined && remaining === undefined) return undefined;
  return {
    unit,
    ...(limit !== undefined && { limit }),
    ...(remaining !== undefined && { remaining }),
    ...(report.resetMs !== undefined && { resetMs: report.resetMs }),
    ...(report.isResetTime === true && { isResetTime: true }),
    // A window of 0 seconds bounds nothing: the limit stays, its window is unknown.
    ...(report.windowMs !== undefined && report.windowMs > 0 && { windowMs: report.windowMs }),
  };
}

/** Reads the limits of these rows from headers. */
export function readRows(
  rows: readonly LimitRow[],
  header: HeaderGet,
  answeredAtMs: () => number,
): ReportedLimit[] {
  const limits: ReportedLimit[] = [];
  for (const row of rows) {
    const { limit, windowMs = row.windowMs } =
      row.limit === undefined ? {} : quotaIn(header(row.limit));
    const remaining = row.remaining === undefined ? undefined : plainNumber(header(row.remaining));
    if (limit === undefined && remaining === undefined) continue;
    const reset = row.reset === undefined ? undefined : header(row.reset);
    const told = { limit, remaining, ...resetOf(reset, answeredAtMs), windowMs };
    const one = reported(row.unit, told);
    if (one !== undefined) limits.push(one);
  }
  return limits;
}

/** The wait until the used-up limit resets. */
export function untilReset(limits: readonly ReportedLimit[]): PartialVerdict | undefined {
  const resetMs = limits.find(({ remaining }) => remaining === 0)?.resetMs;
  return resetMs === undefined ? undefined : { retryAfterMs: resetMs };
}
