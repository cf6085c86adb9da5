import { checkLayer } from '../config/check-config.ts';
import { configurePolicies } from '../core/policies.ts';
import { CHANGEABLE_KEYS } from '../core/registry.ts';
import { checkKeys } from '../model/check.ts';
import { queueBound } from '../queue/queue-capacity.ts';
import type { LimiterOptions } from './limiter-options.ts';
import type { LimiterRuntime } from './limiter-runtime.ts';

const KEYS = [
  ...CHANGEABLE_KEYS,
  'maxQueue',
  'overflow',
  'waitTimeoutMs',
  'total',
] as const satisfies readonly (keyof LimiterOptions)[];

/** What can change while requests wait and run. Limits, and the pace, must have been on at the start. */
export type Changes = Pick<LimiterOptions, (typeof KEYS)[number]>;

/**
 * Checks every change, then makes them all and lets pass whoever may. A raised limit admits at once;
 * under a lowered one nobody is admitted until it is no longer exceeded. A request in the queue
 * whose cost is above a lowered rate limit fails when its turn comes.
 *
 * @throws RangeError or TypeError that names the option
 */
export function configure(changes: Changes, runtime: LimiterRuntime): void {
  const { gate, counters, clock } = runtime;
  checkKeys('limiter.configure', changes, KEYS);
  checkLayer('limiter.configure', changes);
  const { concurrency, waitTimeoutMs, total } = changes;
  const { capacity, timeouts } = gate.queues;
  const { maxQueue = capacity.bound.maxQueue, overflow = capacity.bound.overflow } = changes;
  const bound = queueBound(maxQueue, overflow);
  const changePolicies = configurePolicies(gate.policies, changes, {
    now: clock.now(),
    setConcurrency: (limit) => gate.setConcurrency(limit),
  });

  capacity.bound = bound;
  if (waitTimeoutMs !== undefined) timeouts.configure(waitTimeoutMs);
  if (total !== undefined) counters.setTotal(total);
  if (concurrency !== undefined) runtime.maxConcurrency = concurrency;
  changePolicies();
  runtime.configured();
}
