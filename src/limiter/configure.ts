import { checkLayer } from '../config/check-config.ts';
import type { RateLimit } from '../core/rate-limit/rate-limit.ts';
import { checkKeys } from '../model/check.ts';
import { queueBound } from '../queue/queue-capacity.ts';
import { limitsOf } from '../request/attempt-policies.ts';
import type { RequestGate } from '../request/request-gate.ts';
import type { LimiterOptions } from './limiter-options.ts';
import type { LimiterRuntime } from './limiter-runtime.ts';

/** What can change while requests wait and run. Limits, and the pace, must have been on at the start. */
export type Changes = Pick<
  LimiterOptions,
  | 'concurrency'
  | 'throttledConcurrency'
  | 'maxBytes'
  | 'limits'
  | 'requestsPerMinute'
  | 'tokensPerMinute'
  | 'pace'
  | 'maxQueue'
  | 'overflow'
  | 'waitTimeoutMs'
  | 'total'
>;

const KEYS = [
  'concurrency',
  'throttledConcurrency',
  'maxBytes',
  'limits',
  'requestsPerMinute',
  'tokensPerMinute',
  'pace',
  'maxQueue',
  'overflow',
  'waitTimeoutMs',
  'total',
] as const satisfies readonly (keyof Changes)[];

/**
 * Checks every change, then makes them all and lets pass whoever may. A raised limit admits at once;
 * under a lowered one nobody is admitted until it is no longer exceeded. A request in the queue
 * whose cost is above a lowered rate limit fails when its turn comes.
 *
 * @throws RangeError or TypeError that names the option
 */
export function configure(changes: Changes, runtime: LimiterRuntime): void {
  const { gate, counters } = runtime;
  checkKeys('limiter.configure', changes, KEYS);
  checkLayer('limiter.configure', changes);
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
  runtime.configured();
}

/** The pace first: what it takes in changes nothing where the limits turn out to be wrong. */
function configureAttempts(changes: Changes, { policies, feedback }: RequestGate): void {
  const limits: Readonly<Record<string, RateLimit>> = limitsOf(changes);
  const { rateLimit, pace } = policies;
  const hasLimits = changes.limits !== undefined || Object.keys(limits).length > 0;
  if (hasLimits && rateLimit === undefined) {
    throw new TypeError('`limits` cannot change: the limiter was made without any');
  }
  if (changes.pace !== undefined && pace === undefined) {
    throw new TypeError('`pace` cannot change: the limiter was made without one');
  }
  if (changes.pace !== undefined) pace?.check(changes.pace);
  if (hasLimits) rateLimit?.limits.configure(limits, feedback.clock.now());
  if (changes.pace !== undefined) pace?.configure(changes.pace);
}
