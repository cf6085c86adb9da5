import { limitsOf } from '../policies/rate-limit/definition.ts';
import type { LimitChanges } from '../policies/rate-limit/limit-changes.ts';
import type { RateLimit } from '../policies/rate-limit/rate-limit.ts';
import { CHANGEABLE_KEYS, type ChangeableKey } from '../policies/registry.ts';
import { withoutUndefined } from '../util/without-undefined.ts';
import type { LimiterOptions } from './limiter-options.ts';

export const CHANGE_KEYS = [
  ...CHANGEABLE_KEYS,
  'adaptive',
  'maxQueue',
  'overflow',
  'waitTimeoutMs',
  'total',
] as const satisfies readonly (keyof Changes)[];

/** Limits can be added and removed, too. */
export const LIMIT_KEYS = ['limits', 'requestsPerMinute', 'tokensPerMinute'] as const;
export type LimitKey = (typeof LIMIT_KEYS)[number];

/** Options that can change while requests wait and run. A pace must have been on at the start. */
export interface Changes
  extends Pick<
    LimiterOptions,
    | Exclude<ChangeableKey, LimitKey>
    | 'adaptive'
    | 'maxQueue'
    | 'overflow'
    | 'waitTimeoutMs'
    | 'total'
  > {
  /** Limits to change or add; null removes one. Limits that are not named stay. */
  readonly limits?: LimitChanges;
  /** Short for `limits.requests`; null removes it. */
  readonly requestsPerMinute?: number | null;
  /** Short for `limits.tokens`; null removes it. */
  readonly tokensPerMinute?: number | null;
}

/** The changes without removed limits, which no other source of options knows. */
export function withoutRemovals({
  limits,
  requestsPerMinute,
  tokensPerMinute,
  ...changes
}: Changes) {
  const isObject = typeof limits === 'object' && limits !== null;
  const given = isObject ? Object.entries(limits).filter(([, limit]) => limit !== null) : [];
  const hasOnlyRemovals = isObject && given.length === 0 && Object.keys(limits).length > 0;
  return {
    ...changes,
    ...(limits !== undefined &&
      !hasOnlyRemovals && { limits: isObject ? Object.fromEntries(given) : limits }),
    ...(requestsPerMinute !== null && { requestsPerMinute }),
    ...(tokensPerMinute !== null && { tokensPerMinute }),
  };
}

/** All changes of limits, including those of the short forms. */
export function limitChangesOf({
  limits,
  requestsPerMinute,
  tokensPerMinute,
}: Changes): LimitChanges {
  return {
    ...limits,
    ...limitsOf({
      ...(typeof requestsPerMinute === 'number' && { requestsPerMinute }),
      ...(typeof tokensPerMinute === 'number' && { tokensPerMinute }),
    }),
    ...(requestsPerMinute === null && { requests: null }),
    ...(tokensPerMinute === null && { tokens: null }),
  };
}

/** Changes without removals. */
export function presentOf(limits: LimitChanges): Record<string, RateLimit> {
  const present: Record<string, RateLimit> = {};
  for (const [name, limit] of Object.entries(limits)) if (limit !== null) present[name] = limit;
  return present;
}

/** The changes of other options than rate limits. */
export function withoutLimits(changes: Changes): Omit<Changes, LimitKey> {
  const { limits: _, requestsPerMinute: __, tokensPerMinute: ___, ...others } = changes;
  return withoutUndefined(others);
}
