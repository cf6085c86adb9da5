import type { Verdict } from '../../../src/model/feedback.ts';
import type { PolicyEvent } from '../../../src/model/policy-events.ts';
import { AdaptiveRatePolicy } from '../../../src/policies/adaptive-rate-policy.ts';
import type { RateCharge } from '../../../src/policies/learned-rate.ts';
import type { CompletedAttempt } from '../../../src/policies/policy.ts';
import { demand } from '../../support/waiter.ts';

export const OK: Verdict = { kind: 'ok' };
export const TOO_MANY: Verdict = { kind: 'throttled' };

/** How an attempt ends. */
export interface End {
  readonly verdict?: Verdict | undefined;
  readonly isSent?: boolean;
}

/** A policy with all that it tells, and a clock that is set by hand. */
export function corePlayer({ startLimit = 16, maxLimit = 400 } = {}) {
  const facts: PolicyEvent[] = [];
  const limits: number[] = [];
  const outage = { count: 0 };
  const none = { perMs: () => Number.POSITIVE_INFINITY, burst: () => 0 };
  const policy = new AdaptiveRatePolicy({
    hard: none,
    startLimit,
    maxLimit,
    maxRetryAfterMs: 60_000,
    apply: (limit) => limits.push(limit),
    correct: () => {},
    emit: (fact) => facts.push(fact),
    backoff: { outage },
  });
  const player = {
    policy,
    facts,
    limits,
    /** The outages so far. */
    outage,
    now: 0,
    /** Sends one, if it may go now. */
    send(): RateCharge {
      if (policy.wait(demand(), player.now) > 0) throw new Error('it must wait');
      return policy.take(demand(), player.now);
    },
    /** Waits until one may go, and sends it. */
    sendLater(): RateCharge {
      for (let asked = 0; asked < 1_000; asked += 1) {
        const waitMs = policy.wait(demand(), player.now);
        if (waitMs === 0) return policy.take(demand(), player.now);
        player.now += waitMs;
      }
      throw new Error('it never may go');
    },
    /** Sends all that may go now, up to so many. */
    sendAll(most = 1_000): RateCharge[] {
      const charges: RateCharge[] = [];
      while (charges.length < most && policy.wait(demand(), player.now) === 0) {
        charges.push(policy.take(demand(), player.now));
      }
      return charges;
    },
    end(charge: RateCharge, { verdict, isSent = true }: End = { verdict: OK }): void {
      const ended: CompletedAttempt = { ...demand(), isSent, verdict, usage: undefined, epoch: 0 };
      policy.giveBack(charge, ended, { now: () => player.now });
    },
    wait: () => policy.wait(demand(), player.now),
  };
  return player;
}
