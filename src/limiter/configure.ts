import { checkLayer, checkLimiterConfig } from '../options/check-config.ts';
import { configurePolicies } from '../policies/policies.ts';
import { checkShorthands } from '../policies/rate-limit/definition.ts';
import { CHANGEABLE_KEYS, type PolicyConfig } from '../policies/registry.ts';
import { checkKeys } from '../util/check.ts';
import {
  CHANGE_KEYS,
  type Changes,
  LIMIT_KEYS,
  limitChangesOf,
  withoutRemovals,
} from './changes.ts';
import type { LimiterRuntime } from './limiter-runtime.ts';
import { limitChange } from './set-limits.ts';

const OTHER_KEYS = CHANGEABLE_KEYS.filter((key) => !LIMIT_KEYS.some((limit) => limit === key));

/** Limits that workers share through a store. */
const SHARED = [
  ...LIMIT_KEYS,
  'concurrency',
  'maxBytes',
] as const satisfies readonly (keyof Changes)[];

/**
 * Checks all changes, makes them, then admits every request that may pass. A raised limit admits
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
  checkedChange(changes, runtime)();
  runtime.configured(namesShared(changes));
}

/** Whether a change has a limit that workers share through a store. */
export function namesShared(changes: Changes): boolean {
  return SHARED.some((key) => changes[key] !== undefined);
}

/**
 * Checks all changes, and makes none.
 * @returns makes them; `LimiterRuntime.configured` then admits requests
 * @throws RangeError or TypeError that names the option
 */
export function checkedChange(changes: Changes, runtime: LimiterRuntime): () => void {
  const { gate, counters, clock } = runtime;
  checkKeys('limiter.configure', changes, CHANGE_KEYS);
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
  const changeLimits = Object.keys(limits).length > 0 ? limitChange(gate, limits) : () => {};
  return () => {
    changeLimits();
    capacity.configure({ maxQueue, overflow });
    if (waitTimeoutMs !== undefined) timeouts.configure(waitTimeoutMs);
    if (total !== undefined) counters.setTotal(total);
    changePolicies();
    if (adaptive !== undefined) gate.setAdaptive(adaptive, mostConcurrent);
  };
}

/** The changes that policies make themselves. */
function othersOf(changes: PolicyConfig): PolicyConfig {
  return Object.fromEntries(
    OTHER_KEYS.flatMap((key) => (changes[key] === undefined ? [] : [[key, changes[key]]])),
  );
}
