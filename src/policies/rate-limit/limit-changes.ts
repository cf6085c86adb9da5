import { show } from '../../util/check.ts';
import type { CheckedChanges } from './limit-set.ts';
import {
  checkRateLimits,
  type LimitRule,
  type RateLimit,
  UnknownLimitError,
} from './rate-limit.ts';
import type { RateLimits } from './rate-limits.ts';

/** Changes of limits by their names; null: there is no such limit any more. */
export type LimitChanges = Readonly<Record<string, RateLimit | null>>;

/**
 * Checks changes of limits, and changes nothing.
 * @param limits the present ones; those that were removed before may be removed again
 * @throws RangeError or TypeError for wrong values and for another algorithm; UnknownLimitError for
 * the removal of a limit that never existed
 */
export function checkChanges(changes: LimitChanges, limits: RateLimits): CheckedChanges {
  const isObject = typeof changes === 'object' && changes !== null && !Array.isArray(changes);
  const named = isObject ? Object.entries(changes) : [];
  const removed = named.flatMap(([name, limit]) => (limit === null ? [name] : []));
  for (const name of removed) {
    if (!limits.knows(name)) throw new UnknownLimitError(name, limits.names);
  }
  const given = named.filter((entry): entry is [string, RateLimit] => entry[1] !== null);
  // Changes that are no object, or name no limit, are refused as at the start.
  const hasOnlyRemovals = removed.length > 0 && given.length === 0;
  const rules = hasOnlyRemovals
    ? []
    : checkRateLimits(isObject ? Object.fromEntries(given) : (changes as never));
  const added = rules.filter(({ name }) => limits.find(name) === undefined);
  const resized = rules.flatMap((rule) => {
    const limit = limits.find(rule.name);
    if (limit !== undefined) checkSameKind(rule, limit.rule);
    return limit === undefined ? [] : [{ limit, rule }];
  });
  return { added, resized, removed };
}

/** The limits to add if there are none yet. @throws UnknownLimitError for a limit to be removed */
export function limitsToAdd(changes: LimitChanges): Record<string, RateLimit> {
  const limits: Record<string, RateLimit> = {};
  for (const [name, limit] of Object.entries(changes)) {
    if (limit === null) throw new UnknownLimitError(name, []);
    limits[name] = limit;
  }
  return limits;
}

/** @throws TypeError */
function checkSameKind(rule: LimitRule, before: LimitRule): void {
  const [kind, was] = [kindOf(rule), kindOf(before)];
  if (kind === was) return;
  const option = kind === 'quota' || was === 'quota' ? 'windowMs' : 'algorithm';
  throw new TypeError(
    `\`limits.${rule.name}.${option}\` must stay ${show(before[option])} while running, got ${show(rule[option])}`,
  );
}

function kindOf({ windowMs, algorithm }: LimitRule): string {
  return windowMs === Number.POSITIVE_INFINITY ? 'quota' : algorithm;
}
