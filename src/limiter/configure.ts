import { checkLayer, checkLimiterConfig } from '../config/check-config.ts';
import type { LimitChanges } from '../core/rate-limit/rate-limits.ts';
import { checkKeys } from '../model/check.ts';
import { queueBound } from '../queue/queue-capacity.ts';
import { limitsOf } from '../request/attempt-policies.ts';
import type { RequestGate } from '../request/request-gate.ts';
import type { LimiterOptions } from './limiter-options.ts';
import type { LimiterRuntime } from './limiter-runtime.ts';

/** What can change while requests wait and run. A pace must have been on at the start. */
export interface Changes
  extends Pick<
    LimiterOptions,
    | 'concurrency'
    | 'throttledConcurrency'
    | 'maxBytes'
    | 'pace'
    | 'adaptive'
    | 'maxQueue'
    | 'overflow'
    | 'waitTimeoutMs'
    | 'total'
  > {
  /** Limits that are changed or added; null: that one is removed. Those that are not named stay. */
  readonly limits?: LimitChanges;
  /** Short for `limits.requests`; null removes it. */
  readonly requestsPerMinute?: number | null;
  /** Short for `limits.tokens`; null removes it. */
  readonly tokensPerMinute?: number | null;
}

const KEYS = [
  'concurrency',
  'throttledConcurrency',
  'maxBytes',
  'limits',
  'requestsPerMinute',
  'tokensPerMinute',
  'pace',
  'adaptive',
  'maxQueue',
  'overflow',
  'waitTimeoutMs',
  'total',
] as const satisfies readonly (keyof Changes)[];

/**
 * Checks every change, then makes them all and lets pass whoever may. A raised limit admits at once;
 * under a lowered one nobody is admitted until it is no longer exceeded. A request in the queue
 * whose cost is above a lowered rate limit fails when its turn comes. A limit that is added charges
 * what is sent from now on; one that is removed holds nobody back any more. With another `adaptive`
 * what was learned is forgotten, and a limit of requests in flight that adapts starts anew.
 *
 * @throws RangeError or TypeError that names the option
 */
export function configure(changes: Changes, runtime: LimiterRuntime): void {
  const { gate, counters } = runtime;
  checkKeys('limiter.configure', changes, KEYS);
  checkLayer('limiter.configure', withoutRemovals(changes));
  const { adaptive } = changes;
  const mostConcurrent = changes.concurrency ?? runtime.maxConcurrency;
  if (adaptive !== undefined) {
    checkLimiterConfig('limiter.configure', { adaptive, concurrency: mostConcurrent });
    gate.checkAdaptive(adaptive, mostConcurrent);
  }
  const { concurrency, throttledConcurrency, maxBytes, waitTimeoutMs, total } = changes;
  const { capacity, timeouts } = gate.queues;
  const { maxQueue = capacity.bound.maxQueue, overflow = capacity.bound.overflow } = changes;
  const bound = queueBound(maxQueue, overflow);
  configureAttempts(changes, gate);

  capacity.bound = bound;
  if (waitTimeoutMs !== undefined) timeouts.configure(waitTimeoutMs);
  if (total !== undefined) counters.setTotal(total);
  if (throttledConcurrency !== undefined) {
    gate.slots.throttledLimit = throttledConcurrency;
  }
  if (maxBytes !== undefined) gate.bytes.maxBytes = maxBytes;
  if (concurrency !== undefined) {
    runtime.maxConcurrency = concurrency;
    gate.setConcurrency(concurrency);
  }
  if (adaptive !== undefined) gate.setAdaptive(adaptive, mostConcurrent);
  runtime.configured();
}

/** The pace first: what it takes in changes nothing where the limits turn out to be wrong. */
function configureAttempts(changes: Changes, gate: RequestGate): void {
  const { pace } = gate.policies;
  if (changes.pace !== undefined && pace === undefined) {
    throw new TypeError('`pace` cannot change: the limiter was made without one');
  }
  if (changes.pace !== undefined) pace?.check(changes.pace);
  const limits = limitChangesOf(changes);
  if (Object.keys(limits).length > 0) gate.setLimits(limits);
  if (changes.pace !== undefined) pace?.configure(changes.pace);
}

/** The same without limits that are to be removed, which no other source of options knows. */
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

/** All changes of limits, those of the short forms too. */
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
