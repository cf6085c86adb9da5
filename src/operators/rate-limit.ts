import type { OperatorFunction } from 'rxjs';
import { Composite } from '../core/composite.ts';
import { RateCore } from '../core/rate-core.ts';
import { RateLimits } from '../core/rate-limit/rate-limits.ts';
import { checkBoolean, checkChoice, checkFunction, checkKeys } from '../model/check.ts';
import type { Tell } from '../model/facts.ts';
import type { Amounts, Ticket } from '../model/ticket.ts';
import { attemptOperator } from '../request/attempt-operator.ts';
import type { RateLimitOptions } from '../request/attempt-options.ts';
import {
  COMMON_KEYS,
  type CommonOptions,
  type ResolvedOptions,
  resolveCommonOptions,
} from '../request/common-options.ts';
import {
  checkGateSubscriberOptions,
  GATE_SUBSCRIBER_KEYS,
  type GateSubscriberOptions,
} from '../request/gate-subscriber.ts';
import { rateReading } from '../request/operator-reading.ts';
import type { RequestInput } from '../request/ticket-factory.ts';

const KEYS = ['limits', 'onLimit', 'refundRejected', 'costs'] as const;

/** @see rateLimit */
export interface RateLimitOperatorOptions<T>
  extends RateLimitOptions,
    CommonOptions,
    GateSubscriberOptions {
  readonly limits: NonNullable<RateLimitOptions['limits']>;
  /** What a request costs of the limits, by their names. What is not named costs as by default. */
  readonly costs?: (value: T) => Amounts;
}

/**
 * Keeps named rate limits: a request passes when it fits all of them, and is charged to all or to
 * none. It waits exactly as long as the limit that binds needs, first come, first served
 * (`onLimit: 'fail'` errors the stream instead, or fails that request where `dispatch` has
 * `outcomes`). Each further attempt of a request is charged again.
 *
 * With a `feedback`, nothing passes while its backoff lasts, so that what was charged is sent at
 * once. Put it last, before `dispatch`.
 *
 * @throws RangeError or TypeError that names a wrong option
 * @example
 * prompts$.pipe(
 *   rateLimit({ limits: { requests: { limit: 10_000, windowMs: 60_000 } } }),
 *   dispatch(send),
 * )
 */
export function rateLimit<T>(
  options: RateLimitOperatorOptions<T>,
): OperatorFunction<RequestInput<T>, Ticket<T>> {
  checkKeys('rateLimit', options, [...KEYS, ...COMMON_KEYS, ...GATE_SUBSCRIBER_KEYS]);
  const { limits, onLimit = 'wait', refundRejected = false, costs } = options;
  checkChoice('onLimit', onLimit, ['wait', 'fail']);
  checkBoolean('refundRejected', refundRejected);
  if (costs !== undefined) checkFunction('costs', costs);
  checkGateSubscriberOptions(options);
  const common = resolveCommonOptions(options);
  // What is wrong with the limits is found by making them.
  new RateLimits(limits);
  const open = ({ feedback, probe }: ResolvedOptions) => {
    const tell: Tell = (fact) => probe?.changed?.(fact);
    const rate = new RateCore(new RateLimits(limits), { onLimit, refundRejected }, tell);
    const core =
      feedback === undefined
        ? rate
        : new Composite([
            { kind: 'rateLimit', core: rate },
            { kind: 'backoff', core: feedback.closing },
          ]);
    return { core, read: (now: number) => rateReading(rate, now) };
  };
  return attemptOperator('rateLimit', open, common, options);
}
