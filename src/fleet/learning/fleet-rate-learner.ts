import type { ReportedLimit } from '../../model/feedback.ts';
import { RateLearner } from '../../policies/adaptive-rate/rate-learner.ts';
import type { RateOrigin } from '../../policies/adaptive-rate/units/unit-rate.ts';
import type { KnownLimits } from '../../policies/adaptive-rate/units/unit-rates.ts';

/** What other processes may send from now on, by the state of a learner. */
export interface Outlook {
  /** Rates per ms; Infinity: nothing bounds them. */
  readonly perMs: number;
  readonly tokensPerMs: number;
  readonly origin: RateOrigin;
  /** Requests that may go at once after a time without demand. */
  readonly burst: number;
  /** Requests that may be sent before more results are known. */
  readonly budget: number;
  /** No request may be sent for this time, in ms. */
  readonly closedMs: number;
  /** Requests in flight; undefined: no cap is known. */
  readonly limit: number | undefined;
  readonly isOut: boolean;
  /** Whether this may change by time alone: the gate is closed, or results are missing. */
  readonly isWaiting: boolean;
}

/** Learns for a whole fleet: other processes send, and it may continue from another one's state. */
export class FleetRateLearner extends RateLearner {
  /** What the workers may send from now on. */
  outlook(now: number): Outlook {
    const { cap, closed, log, trust } = this;
    const { estimate, units } = this.rate;
    log.advance(now);
    units.wait(this.learnedPerMs, 0, now);
    const lone = log.unknown > 0 ? 0 : 1;
    const verified = trust.mayGo ? trust.size : lone;
    const heldMs = Math.max(units.heldMs(now), closed.until - now, 0);
    return {
      perMs: units.requests.perMs,
      tokensPerMs: units.estimatedTokensPerMs,
      origin: units.requests.origin,
      burst: closed.isClosed || heldMs > 0 ? 0 : estimate.saved,
      budget: Math.min(verified, Math.floor(units.left(now))),
      closedMs: heldMs,
      limit: cap.limit,
      isOut: closed.isOut,
      isWaiting: closed.isClosed || log.unknown > 0,
    };
  }

  /** No worker has led for a while: nothing is known of the time since the last attempt. */
  interrupted(now: number): void {
    const { demand, estimate, intervalMs } = this.rate;
    if (demand.isLongGap(intervalMs, now)) estimate.interrupted(demand.lastSentAt, now);
  }

  /** Creates the fields that only a measured estimate has, so that a state can be restored. */
  prepare(now: number): void {
    this.begin(0, now);
  }

  /**
   * Continues from the state of another learner. Attempts in flight count as sent before its last
   * reaction.
   */
  resume(now: number): void {
    this.reactions.react(this.rate.demand.count, now);
  }

  /** What reports have shown about the limits, for the next leader. */
  get knownLimits(): KnownLimits {
    return this.rate.units.known;
  }

  /** Continues with the limits that were reported to the last leader. */
  told(limits: readonly ReportedLimit[], known: KnownLimits, at: number): void {
    this.rate.units.continue(limits, known, at);
  }
}
