import { AdaptiveRateCore, type RateCharge } from '../../../src/core/adaptive-rate-core.ts';
import type { Ended } from '../../../src/core/core.ts';
import type { CoreFact } from '../../../src/model/facts.ts';
import type { Verdict } from '../../../src/model/feedback.ts';
import { demand } from '../../support/waiter.ts';

export const OK: Verdict = { kind: 'ok' };
export const TOO_MANY: Verdict = { kind: 'throttled' };

/** How an attempt ends. */
export interface End {
  readonly verdict?: Verdict | undefined;
  readonly isSent?: boolean;
}

/** A core with all that it tells, and a clock that is set by hand. */
export function corePlayer({ startLimit = 16, maxLimit = 400 } = {}) {
  const facts: CoreFact[] = [];
  const limits: number[] = [];
  const none = () => Number.POSITIVE_INFINITY;
  const core = new AdaptiveRateCore({
    hard: none,
    startLimit,
    maxLimit,
    maxRetryAfterMs: 60_000,
    apply: (limit) => limits.push(limit),
    tell: (fact) => facts.push(fact),
  });
  const player = {
    core,
    facts,
    limits,
    now: 0,
    /** Sends one, if it may go now. */
    send(): RateCharge {
      if (core.wait(demand(), player.now) > 0) throw new Error('it must wait');
      return core.take(demand(), player.now);
    },
    /** Waits until one may go, and sends it. */
    sendLater(): RateCharge {
      for (let asked = 0; asked < 1_000; asked += 1) {
        const waitMs = core.wait(demand(), player.now);
        if (waitMs === 0) return core.take(demand(), player.now);
        player.now += waitMs;
      }
      throw new Error('it never may go');
    },
    /** Sends all that may go now, up to so many. */
    sendAll(most = 1_000): RateCharge[] {
      const charges: RateCharge[] = [];
      while (charges.length < most && core.wait(demand(), player.now) === 0) {
        charges.push(core.take(demand(), player.now));
      }
      return charges;
    },
    end(charge: RateCharge, { verdict, isSent = true }: End = { verdict: OK }): void {
      const ended: Ended = { ...demand(), isSent, verdict, usage: undefined, epoch: 0 };
      core.giveBack(charge, ended, { now: () => player.now });
    },
    wait: () => core.wait(demand(), player.now),
  };
  return player;
}
