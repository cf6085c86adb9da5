import { checkLayer, checkLimiterConfig } from '../options/check-config.ts';
import { configurePolicies } from '../policies/policies.ts';
import { checkShorthands, limitsOf } from '../policies/rate-limit/definition.ts';
import type { LimitChanges } from '../policies/rate-limit/limit-changes.ts';
import { CHANGEABLE_KEYS, type ChangeableKey, type PolicyConfig } from '../policies/registry.ts';
import { checkKeys } from '../util/check.ts';
import type { LimiterOptions } from './limiter-options.ts';
import type { LimiterRuntime } from './limiter-runtime.ts';
import { setLimits } from './set-limits.ts';

const KEYS = [
  ...CHANGEABLE_KEYS,
  'adaptive',
  'maxQueue',
  'overflow',
  'waitTimeoutMs',
  'total',
] as const satisfies readonly (keyof Changes)[];

/** Limits can be added and removed, too. */
const LIMIT_KEYS = ['limits', 'requestsPerMinute', 'tokensPerMinute'] as const;
type LimitKey = (typeof LIMIT_KEYS)[number];

const OTHER_KEYS = CHANGEABLE_KEYS.filter((key) => !LIMIT_KEYS.some((limit) => limit === key));

/** Limits that workers share through a store. */
const SHARED = [
  ...LIMIT_KEYS,
  'concurrency',
  'maxBytes',
] as const satisfies readonly (keyof Changes)[];

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

/**
 * Checks all changes, applies them, then admits every request that may pass. A raised limit admits
 * waiting requests at once. A lowered limit admits no request while more than the new limit is in
 * use. A waiting request whose cost exceeds a lowered rate limit fails when its turn comes. A limit
 * on requests raised above all earlier values raises the learned rate by the same factor. An
 * added limit charges only requests that are sent from now on. A removed limit delays no request
 * any more. A changed `adaptive` forgets everything learned, and an adaptive concurrency limit
 * starts again.
 *
 * @throws RangeError or TypeError that names the option
 */
export function configure(changes: Changes, runtime: LimiterRuntime): void {
  const { gate, counters, clock } = runtime;
  checkKeys('limiter.configure', changes, KEYS);
  checkShorthands(changes);
  const plain = withoutRemovals(changes);
  checkLayer('limiter.configure', plain);
  const { adaptive, concurrency, waitTimeoutMs, total } = changes;
  const mostConcurrent = concurrency ?? gate.slots.maxLimit;
  if (adaptive !== undefined) {
    checkLimiterConfig('limiter.configure', { adaptive, concurrency: mostConcurrent });
    gate.own.checkAdaptive(adaptive, mostConcurrent);
  }
  const { capacity, timeouts } = gate.queues;
  const { maxQueue = capacity.bound.maxQueue, overflow = capacity.bound.overflow } = changes;
  const changePolicies = configurePolicies(gate.policies, othersOf(plain), {
    now: clock.now(),
    setConcurrency: (limit) => gate.setConcurrency(limit),
  });

  const limits = limitChangesOf(changes);
  gate.fleet?.check(limits);
  if (Object.keys(limits).length > 0) setLimits(gate, limits);
  capacity.configure({ maxQueue, overflow });
  if (waitTimeoutMs !== undefined) timeouts.configure(waitTimeoutMs);
  if (total !== undefined) counters.setTotal(total);
  changePolicies();
  if (adaptive !== undefined) gate.setAdaptive(adaptive, mostConcurrent);
  runtime.configured(SHARED.some((key) => changes[key] !== undefined));
}

/** The changes that policies make themselves. */
function othersOf(changes: PolicyConfig): PolicyConfig {
  return Object.fromEntries(
    OTHER_KEYS.flatMap((key) => (changes[key] === undefined ? [] : [[key, changes[key]]])),
  );
}

/** The changes without removed limits, which no other source of options knows. */
function withoutRemovals({ limits, requestsPerMinute, tokensPerMinute, ...changes }: Changes) {
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
function limitChangesOf({ limits, requestsPerMinute, tokensPerMinute }: Changes): LimitChanges {
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
