import { limitsOf } from '../policies/rate-limit/definition.ts';
import type { LimitChanges } from '../policies/rate-limit/limit-changes.ts';
import { type Changes, limitChangesOf, presentOf, withoutLimits } from './changes.ts';
import type { KeyOptions } from './group-options.ts';
import type { LimiterRuntime } from './limiter-runtime.ts';
import { limitChange } from './set-limits.ts';

/** Two changes, one after the other, as one. */
export function joinedChanges(before: Changes, after: Changes): Changes {
  return {
    ...withoutLimits(before),
    ...withoutLimits(after),
    limits: { ...limitChangesOf(before), ...limitChangesOf(after) },
  };
}

/** The options of a limiter with changes, except for removed limits: see `removeLimits`. */
export function changedOptions(options: KeyOptions, changes: Changes): KeyOptions {
  const others = withoutLimits(changes);
  const changed = presentOf(limitChangesOf(changes));
  if (Object.keys(changed).length === 0) return { ...options, ...others };
  const { requestsPerMinute: _, tokensPerMinute: __, ...kept } = options;
  return { ...kept, ...others, limits: { ...limitsOf(options), ...changed } };
}

/** Removes limits from a new limiter: as one that had them before, it ignores costs for them. */
export function removeLimits(limiter: LimiterRuntime, changes: Changes): void {
  const removals = knownRemovals(limitChangesOf(changes), limiter);
  if (Object.keys(removals).length === 0) return;
  limitChange(limiter.gate, removals)();
  limiter.configured();
}

/** Changes without the removal of limits that a limiter never had. */
export function changesFor(limiter: LimiterRuntime, changes: Changes): Changes {
  const { limits, requestsPerMinute, tokensPerMinute, ...others } = changes;
  const all = limitChangesOf(changes);
  const known = { ...presentOf(all), ...knownRemovals(all, limiter) };
  return { ...others, ...(Object.keys(known).length > 0 && { limits: known }) };
}

function knownRemovals(limits: LimitChanges, { gate }: LimiterRuntime): Record<string, null> {
  const removals: Record<string, null> = {};
  for (const [name, limit] of Object.entries(limits)) {
    if (limit === null && gate.policies.rateLimit?.limits.knows(name)) removals[name] = limit;
  }
  return removals;
}
