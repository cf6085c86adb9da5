import type { OperatorFunction } from 'rxjs';
import type { Emit } from '../model/policy-events.ts';
import type { Amounts, Ticket } from '../model/ticket.ts';
import { Composite } from '../policies/composite.ts';
import type { Policy } from '../policies/policy.ts';
import { RateLimits } from '../policies/rate-limit/rate-limits.ts';
import { RateLimitPolicy } from '../policies/rate-limit-policy.ts';
import type { FeedbackSubject } from '../request/feedback-subject.ts';
import type { RateLimitOptions } from '../request/gate-options.ts';
import { type PolicyOperatorOptions, policyOperator } from '../request/policy-operator.ts';
import type { RequestInput } from '../request/ticket-factory.ts';
import { checkBoolean, checkChoice, checkFunction, checkObject } from '../util/check.ts';

const KEYS = ['limits', 'onLimit', 'refundRejected', 'costs'] as const;

/** Options of the operator `rateLimit`. */
export interface RateLimitOperatorOptions<T> extends RateLimitOptions, PolicyOperatorOptions {
  /** The limits by name. */
  readonly limits: NonNullable<RateLimitOptions['limits']>;
  /** The costs of a request by limit. Limits without a given cost use the default. */
  readonly costs?: (value: T) => Amounts;
}

/**
 * Keeps named rate limits: a request passes when it fits all of them, and is charged to all or
 * none. It waits exactly as long as the binding limit needs, first come, first served
 * (`onLimit: 'fail'` errors the stream instead, or fails only that request if `dispatch` has
 * `outcomes`). Each further attempt of a request is charged again.
 *
 * With a `feedback`, no request passes while its backoff lasts, so that a charged request is sent
 * at once. Put it last, before `dispatch`.
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
  checkObject('rateLimit', options);
  const { limits, onLimit = 'wait', refundRejected = false, costs } = options;
  return policyOperator(
    {
      name: 'rateLimit',
      kind: 'rateLimit',
      keys: KEYS,
      limits: 'attempt',
      check: () => {
        checkChoice('onLimit', onLimit, ['wait', 'fail']);
        checkBoolean('refundRejected', refundRejected);
        if (costs !== undefined) checkFunction('costs', costs);
      },
      open: ({ clock, feedback, instrumentation }) => {
        const emit: Emit = (fact) => instrumentation?.changed?.(fact);
        const rate = new RateLimitPolicy(
          new RateLimits(limits, clock.now()),
          // Without costs of its own, it meets only those of other gates.
          { onLimit, refundRejected, ignoreUnknown: costs === undefined },
          emit,
        );
        if (costs === undefined) rate.checkCharged();
        const policy: Policy =
          feedback === undefined
            ? rate
            : new Composite([
                { kind: 'rateLimit', policy: rate },
                { kind: 'backoff', policy: closingOf(feedback) },
              ]);
        return { policy, policies: { rateLimit: rate } };
      },
    },
    options,
  );
}

/** The time of the backoff without probes: the operator `backoffGate` sends these. */
function closingOf({ gate }: FeedbackSubject): Policy<number> {
  const { policy } = gate;
  return {
    wait: (_request, now) => Math.max(0, policy.until - now),
    take: () => 0,
    giveBack: () => {},
    snapshot: (now) => policy.snapshot(now),
  };
}
