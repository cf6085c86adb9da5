import type { ReportedLimit } from '../../model/feedback.ts';
import { RateLearner } from '../../policies/adaptive-rate/rate-learner.ts';
import type { RateOrigin } from '../../policies/adaptive-rate/unit-rate.ts';

/** What a learner lets go from now on, where others send for it. */
export interface Outlook {
  /** Rates per ms; Infinity: nothing bounds them. */
  readonly perMs: number;
  readonly tokensPerMs: number;
  readonly origin: RateOrigin;
  /** Requests that may go at once after a time without demand. */
  readonly burst: number;
  /** How many may go before more is known. */
  readonly budget: number;
  /** Nothing goes for so long, in ms. */
  readonly closedMs: number;
  /** Requests in flight; undefined: no cap is known. */
  readonly limit: number | undefined;
  readonly isOut: boolean;
  /** Whether results are missing that change this by time alone. */
  readonly isWaiting: boolean;
}

/** Learns for a whole fleet: others send, and it goes on from what another process has learned. */
export class FleetRateLearner extends RateLearner {
  /** What may be sent elsewhere from now on. */
  outlook(now: number): Outlook {
    const { log, trust, rates, estimate, closed } = this;
    log.advance(now);
    rates.set(this.learnedPerMs, now);
    const lone = log.unknown > 0 ? 0 : 1;
    const verified = trust.mayGo ? trust.size : lone;
    const heldMs = Math.max(rates.heldMs(now), closed.until - now, 0);
    return {
      perMs: rates.requests.perMs,
      tokensPerMs: rates.estimatedTokensPerMs,
      origin: rates.requests.origin,
      burst: closed.isClosed || heldMs > 0 ? 0 : estimate.saved,
      budget: Math.min(verified, Math.floor(rates.left(now))),
      closedMs: heldMs,
      limit: this.cap.limit,
      isOut: this.isOut,
      isWaiting: closed.isClosed || log.unknown > 0,
    };
  }

  /** Nobody has learned for a while: the time since the last attempt tells nothing. */
  interrupted(now: number): void {
    const { demand, estimate } = this;
    if (demand.isLongGap(this.intervalMs, now)) estimate.interrupted(demand.lastSentAt, now);
  }

  /** Makes room for what another one has learned: a measured rate has marks, which a new estimate has not. */
  prepare(now: number): void {
    this.estimate.begin(0, now);
  }

  /**
   * Continues from the state of another learner. Attempts in flight count as sent before its last
   * reaction.
   */
  resume(now: number): void {
    this.reactions.react(this.demand.count, now);
  }

  /** Limits that were told before. */
  told(limits: readonly ReportedLimit[], at: number): void {
    this.rates.told(limits, at);
  }
}
