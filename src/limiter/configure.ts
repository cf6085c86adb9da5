import { checkLayer } from '../config/check-config.ts';
import type { RateLimit } from '../core/rate-limit/rate-limit.ts';
import { queueBound } from '../gate/queue/bound.ts';
import { checkKeys } from '../model/check.ts';
import { limitsOf } from '../operators/attempt-cores.ts';
import { type Gates, setConcurrency } from '../operators/gates.ts';
import type { Engine } from './engine.ts';
import type { LimiterOptions } from './limiter-options.ts';

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
export function configure(changes: Changes, engine: Engine): void {
  const { gates, census } = engine;
  checkKeys('limiter.configure', changes, KEYS);
  checkLayer('limiter.configure', changes);
  const { concurrency, throttledConcurrency, maxBytes, waitTimeoutMs, total } = changes;
  const { room, timeouts } = gates.queues;
  const { maxQueue = room.bound.maxQueue, overflow = room.bound.overflow } = changes;
  const bound = queueBound(maxQueue, overflow);
  configureAttempts(changes, gates);

  room.bound = bound;
  if (waitTimeoutMs !== undefined) timeouts.configure(waitTimeoutMs);
  if (total !== undefined) census.setTotal(total);
  if (throttledConcurrency !== undefined) {
    gates.concurrency.core.throttledLimit = throttledConcurrency;
  }
  if (maxBytes !== undefined) gates.byteBudget.core.maxBytes = maxBytes;
  if (concurrency !== undefined) {
    engine.maxConcurrency = concurrency;
    setConcurrency(concurrency, gates);
  }
  engine.configured();
}

/** The pace first: what it takes in changes nothing where the limits turn out to be wrong. */
function configureAttempts(changes: Changes, { attempt, feedback }: Gates): void {
  const limits: Readonly<Record<string, RateLimit>> = limitsOf(changes);
  const { rateLimit, pace } = attempt.cores;
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
