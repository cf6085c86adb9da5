import type { LimitUnit, ReportedLimit } from '../model/feedback.ts';
import { withoutUndefined } from '../util/without-undefined.ts';
import type { HeaderGet, PartialVerdict } from './adapter.ts';
import { isList, isShape, read, readList } from './shape.ts';
import { parseList } from './structured-list.ts';
import { plainNumber, resetOf } from './times.ts';

const NONE: HeaderGet = () => undefined;
/** Longer header values are ignored: no provider sends one. */
const LONGEST_VALUE = 4_096;
const UPPER_CASE = /[A-Z]/;
const MOST_OF_LIST = 16;

/**
 * Reads single headers of a `Headers` object, of an object with such a `get` (axios, Map), or of a
 * record. Copies nothing if the names are in lower case, as clients deliver them.
 */
export function headerGetOf(headers: unknown): HeaderGet {
  if (!isShape(headers)) return NONE;
  const get = read(headers, 'get');
  if (typeof get !== 'function')
    return ofRecord(isList(headers) ? recordOf(headers) : inLowerCase(headers));
  // A Map keeps the case of its keys.
  if (read(headers, 'constructor') === Map) return ofRecord(recordOf(headers));
  return (name) => {
    try {
      return textOf(get.call(headers, name));
    } catch {
      return undefined;
    }
  };
}

function ofRecord(record: object): HeaderGet {
  return (name) => textOf(read(record, name));
}

/** Node gives a repeated header as an array. */
function textOf(value: unknown): string | undefined {
  const text = isList(value)
    ? readList(value, MOST_OF_LIST)
        .filter((item) => typeof item === 'string')
        .join(', ')
    : value;
  if (typeof text === 'number') return String(text);
  return typeof text === 'string' && text.length <= LONGEST_VALUE ? text : undefined;
}

function inLowerCase(headers: object): object {
  try {
    for (const name in headers) if (UPPER_CASE.test(name)) return recordOf(headers);
    return headers;
  } catch {
    return {};
  }
}

/** All headers, with names in lower case; empty if there are none. */
export function headersOf(chain: readonly unknown[]): Record<string, string> {
  for (const layer of chain) {
    const headers = read(layer, 'headers') ?? read(layer, 'responseHeaders');
    if (!isShape(headers)) continue;
    const record = recordOf(headers);
    if (Object.keys(record).length > 0) return record;
  }
  return {};
}

function isIterable(value: object): value is Iterable<unknown> {
  return typeof read(value, Symbol.iterator) === 'function';
}

/** More headers than a server sends. The rest is ignored. */
const MOST_HEADERS = 256;

/** Headers, maps and lists of pairs are iterable; the rest are plain objects. */
function recordOf(headers: object): Record<string, string> {
  const record: Record<string, string> = {};
  try {
    let left = MOST_HEADERS;
    for (const pair of isIterable(headers) ? headers : Object.entries(headers)) {
      if (left-- === 0) break;
      if (isList(pair)) record[String(pair[0]).toLowerCase()] = String(pair[1]);
    }
  } catch {
    return {};
  }
  return record;
}

/** A policy as Envoy and the drafts before 8 write it: `60;w=6` is 60 in 6 seconds. */
export interface Quota {
  readonly limit: number;
  readonly windowMs: number | undefined;
}

/** The policies of a `RateLimit-Policy`. Empty if one of its items is not a policy. */
export function quotasOf(field: string | undefined): readonly Quota[] {
  const items = parseList(field);
  const quotas = items.flatMap(({ value, parameters }) => {
    if (!isWhole(value)) return [];
    const seconds = parameters.get('w');
    return [{ limit: value, windowMs: isWhole(seconds) ? seconds * 1000 : undefined }];
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
  const number = plainNumber(text);
  if (number !== undefined) return { limit: number };
  const quotas = quotasOf(text);
  const [closest, ...policies] = quotas;
  if (closest === undefined || quotas.every((quota) => quota.windowMs === undefined)) return {};
  // `60;w=60` is the limit and its policy in one.
  const { limit, windowMs = windowOf(limit, policies) } = closest;
  return { limit, windowMs };
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
  readonly limit: string;
  readonly remaining: string;
  readonly reset: string;
  readonly windowMs: number | undefined;
}

/** @param names of the headers, with `*` for `limit`, `remaining` and `reset` */
export function rowOf(unit: LimitUnit, names: string, windowMs?: number): LimitRow {
  const named = (what: string) => names.replace('*', what);
  return {
    unit,
    limit: named('limit'),
    remaining: named('remaining'),
    reset: named('reset'),
    windowMs,
  };
}

/** Builds the report of a limit; undefined if nothing is known. */
export function reported(
  unit: LimitUnit,
  { limit, remaining, resetMs, isResetTime, windowMs }: Omit<ReportedLimit, 'unit'>,
): ReportedLimit | undefined {
  // A limit of 0 does not apply, and nothing left of an unknown limit means nothing.
  if (limit === undefined ? !remaining : limit <= 0) return undefined;
  return withoutUndefined({
    unit,
    limit,
    remaining,
    resetMs,
    isResetTime: isResetTime || undefined,
    // A window of 0 seconds bounds nothing: the limit stays, its window is unknown.
    windowMs: windowMs || undefined,
  });
}

/** Reads the limits of these rows from headers. */
export function readRows(
  rows: readonly LimitRow[],
  header: HeaderGet,
  answeredAtMs: () => number,
): ReportedLimit[] {
  return rows.flatMap((row) => {
    const { limit, windowMs = row.windowMs } = quotaIn(header(row.limit));
    const remaining = plainNumber(header(row.remaining));
    if (limit === undefined && remaining === undefined) return [];
    const reset = resetOf(header(row.reset), answeredAtMs);
    return reported(row.unit, { limit, remaining, ...reset, windowMs }) ?? [];
  });
}

/** The wait until the used-up limit resets. */
export function untilReset(limits: readonly ReportedLimit[]): PartialVerdict | undefined {
  const resetMs = limits.find(({ remaining }) => remaining === 0)?.resetMs;
  return resetMs === undefined ? undefined : { retryAfterMs: resetMs };
}
