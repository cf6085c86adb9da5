import { parseList } from './structured-list.ts';
import { plainNumber } from './times.ts';

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
