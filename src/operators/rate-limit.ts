import type { OperatorFunction } from 'rxjs';
import type { Emit } from '../model/policy-events.ts';
import type { Amounts, Ticket } from '../model/ticket.ts';
import { Composite } from '../policies/composite.ts';
import { RateLimits } from '../policies/rate-limit/rate-limits.ts';
import { RateLimitPolicy } from '../policies/rate-limit-policy.ts';
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
import type { RequestInput } from '../request/ticket-factory.ts';
import { checkBoolean, checkChoice, checkFunction, checkKeys } from '../util/check.ts';

const KEYS = ['limits', 'onLimit', 'refundRejected', 'costs'] as const;

/** @see rateLimit */
export interface RateLimitOperatorOptions<T>
  extends RateLimitOptions,
    CommonOptions,
    GateSubscriberOptions {
  readonly limits: NonNullable<RateLimitOptions['limits']>;
  /** The costs of a request by limit. Limits without a given cost use the default. */
  readonly costs?: (value: T) => Amounts;
}

/**
 * Keeps named rate limits: a request passes when it fits all of them, and is charged to all or none.
 * It waits exactly as long as the binding limit needs, first come, first served (`onLimit: 'fail'`
 * errors the stream instead, or fails only that request if `dispatch` has `outcomes`). Each further
 * attempt of a request is charged again.
 *
 * With a `feedback`, no request passes while its backoff lasts, so that a charged request is sent at
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
  // Construct once, so that wrong limits throw here.
  new RateLimits(limits);
  const open = ({ clock, feedback, instrumentation }: ResolvedOptions) => {
    const emit: Emit = (fact) => instrumentation?.changed?.(fact);
    const rate = new RateLimitPolicy(
      new RateLimits(limits, clock.now()),
      { onLimit, refundRejected },
      emit,
    );
    const policy =
      feedback === undefined
        ? rate
        : new Composite([
            { kind: 'rateLimit', policy: rate },
            { kind: 'backoff', policy: feedback.closing },
          ]);
    return { policy, policies: { rateLimit: rate } };
  };
  return attemptOperator('rateLimit', open, common, options);
}
