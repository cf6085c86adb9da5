import type { RemoteLimits } from '../fleet/shared-store.ts';
import { checkLimiterConfig } from '../options/check-config.ts';
import { configurePolicies, type Policies } from '../policies/policies.ts';
import { checkShorthands } from '../policies/rate-limit/definition.ts';
import { checkChanges } from '../policies/rate-limit/limit-changes.ts';
import { POLICIES } from '../policies/registry.ts';
import { checkKeys } from '../util/check.ts';
import { type Changes, LIMIT_KEYS, limitChangesOf, presentOf, withoutRemovals } from './changes.ts';
import { checkStored } from './group-store.ts';

const KEYS = [
  ...LIMIT_KEYS,
  'concurrency',
  'maxBytes',
  'costBudget',
  'pace',
] as const satisfies readonly (keyof Changes)[];

/**
 * Changes of the limits that all keys of a group share. Each must have been on at the start, except
 * that further `limits` can be added to those on rates.
 */
export type SharedChanges = Pick<Changes, (typeof KEYS)[number]>;

/**
 * Checks changes of shared limits, and makes none.
 * @param policies those that are on
 * @param fleet the processes that share these limits
 * @returns makes the changes, and admits no request
 * @throws RangeError or TypeError that names the option; UnknownLimitError for the removal of a
 *   limit that never existed
 */
export function sharedChange(
  changes: SharedChanges,
  policies: Partial<Policies>,
  fleet: RemoteLimits | undefined,
  now: number,
): () => void {
  checkKeys('shared', changes, KEYS);
  checkShorthands(changes, (path) => `shared.${path}`);
  const plain = withoutRemovals(changes);
  checkLimiterConfig('shared', plain, [], 'shared.');
  checkAreOn(changes, policies);
  const { rateLimit, concurrency: slots } = policies;
  const limits = limitChangesOf(changes);
  const isLimited = rateLimit !== undefined && Object.keys(limits).length > 0;
  const checked = isLimited ? checkChanges(limits, rateLimit.limits) : undefined;
  if (fleet !== undefined) {
    checkStored('shared', { limits: presentOf(limits) });
    fleet.check(limits);
  }
  const { costBudget, pace, concurrency, maxBytes } = plain;
  const others = {
    ...(costBudget !== undefined && { costBudget }),
    ...(pace !== undefined && { pace }),
    ...(maxBytes !== undefined && { maxBytes }),
    // There is no throttled mode for all keys.
    ...(concurrency !== undefined && { concurrency, throttledConcurrency: concurrency }),
  };
  const setConcurrency = (limit: number) => {
    if (slots !== undefined) slots.limit = limit;
  };
  const changeOthers = configurePolicies(policies, others, { now, setConcurrency });
  return () => {
    if (checked !== undefined) rateLimit?.configure(checked, now);
    changeOthers();
  };
}

/** @throws TypeError for a change of a limit that the keys do not share */
function checkAreOn(changes: SharedChanges, policies: Readonly<Record<string, unknown>>): void {
  for (const [name, { options }] of Object.entries(POLICIES)) {
    const option = KEYS.find((key) => key in options && changes[key] !== undefined);
    if (option === undefined || policies[name] !== undefined) continue;
    const what = name === 'rateLimit' ? 'shared limits on rates' : 'one';
    throw new TypeError(`\`shared.${option}\` cannot change: the group was made without ${what}`);
  }
}
