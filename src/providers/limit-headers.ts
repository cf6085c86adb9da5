import type { LimitUnit, ReportedLimit } from '../model/feedback.ts';
import type { HeaderGet, PartialVerdict } from './adapter.ts';
import { parseList } from './structured-list.ts';
import { plainNumber, resetOf } from './times.ts';

/** A policy as Envoy and the drafts before 8 write it: `60;w=6` is 60 in 6 seconds. */
export interface Quota {
  readonly limit: number;
  readonly windowMs?: number;
}

/** The policies of a `RateLimit-Policy`. Empty if one of its items is no policy. */
export function quotasOf(field: string | undefined): readonly Quota[] {
  const items = parseList(field);
  const quotas = items.flatMap(({ value, parameters }) => {
    if (!isWhole(value)) return [];
    const seconds = parameters.get('w');
    return [{ limit: value, ...(isWhole(seconds) && { windowMs: seconds * 1000 }) }];
  });
  return quotas.length === items.length ? quotas : [];
}

/** The window of the policies with this limit; undefined if they name none, or different ones. */
export function windowOf(limit: number, quotas: readonly Quota[]): number | undefined {
  const same = quotas.filter((quota) => quota.limit === limit);
  const windowMs = same[0]?.windowMs;
  return same.every((quota) => quota.windowMs === windowMs) ? windowMs : undefined;
}

/**
 * The value of a limit header: `60`, or `60, 60;w=60, 1000;w=3600`, where the first number is the
 * limit that is closest to being reached and the policies follow.
 */
export function quotaIn(text: string | undefined): Partial<Quota> {
  const limit = plainNumber(text);
  if (limit !== undefined) return { limit };
  const quotas = quotasOf(text);
  const [closest, ...policies] = quotas;
  if (closest === undefined || quotas.every(isWithoutWindow)) return {};
  // `60;w=60` is the limit and its policy in one.
  const windowMs = closest.windowMs ?? windowOf(closest.limit, policies);
  return { limit: closest.limit, ...(windowMs !== undefined && { windowMs }) };
}

function isWithoutWindow({ windowMs }: Quota): boolean {
  return windowMs === undefined;
}

function isWhole(value: unknown): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value > 0;
}

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
