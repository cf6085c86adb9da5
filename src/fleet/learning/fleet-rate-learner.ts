import type { ReportedLimit } from '../../model/feedback.ts';
import { RateLearner } from '../../policies/adaptive-rate/rate-learner.ts';
import type { RateOrigin } from '../../policies/adaptive-rate/units/unit-rate.ts';
import type { KnownLimits } from '../../policies/adaptive-rate/units/unit-rates.ts';

/** What other processes may send from now on, by the state of a learner. */
export interface Outlook {
  /** Rates per ms; Infinity: nothing bounds them. */
  readonly perMs: number;
  readonly tokensPerMs: number;
  /**
   * The rate of requests for workers that cannot hear of the next outlook, per ms. What is left of a
   * window may go at once, so the other rates may not bound it.
   */
  readonly alonePerMs: number;
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
  /** The true waits as a share of those that rejections name: below 1 if these prove too long. */
  readonly waitShare: number;
  /**
   * The time after which this may have changed, in ms: soon while results are missing, else when
   * the closed gate lets a request pass. Infinity: it changes with results alone.
   */
  readonly lastsMs: number;
}

/** Learns for a whole fleet: other processes send, and it may continue from another one's state. */
export class FleetRateLearner extends RateLearner {
  /**
   * What the workers may send from now on.
   * @param tokens the mean estimate of a request
   */
  outlook(tokens: number, now: number): Outlook {
    const { cap, closed, log, trust } = this;
    const { estimate, units } = this.rate;
    log.advance(now);
    units.wait(this.learnedPerMs, 0, now);
    const lone = log.unknown > 0 ? 0 : 1;
    const verified = trust.mayGo ? trust.size : lone;
    const heldMs = Math.max(this.heldByReports(tokens, now), closed.until - now, 0);
    const closedMs = closed.isClosed ? heldMs : Number.POSITIVE_INFINITY;
    return {
      perMs: units.requests.perMs,
      tokensPerMs: units.estimatedTokensPerMs,
      alonePerMs: this.meanPerMs(tokens),
      origin: units.requests.origin,
      burst: closed.isClosed || heldMs > 0 ? 0 : estimate.saved,
      budget: Math.min(verified, Math.floor(this.left(tokens, now))),
      closedMs: heldMs,
      limit: cap.limit,
      isOut: closed.isOut,
      waitShare: Math.min(1, closed.named.scale),
      lastsMs: log.unknown > 0 ? 0 : closedMs,
    };
  }

  /**
   * The number of requests that reported limits permit at once.
   * @param estimate the mean estimate of those that have one
   */
  left(estimate: number, now: number): number {
    const { requests, tokens } = this.rate.units;
    const cost = this.leastOf(estimate);
    const ofTokens = tokens?.left(cost, now) ?? Number.POSITIVE_INFINITY;
    return Math.min(requests.left(1, now), ofTokens / cost);
  }

  /** Milliseconds until reported limits permit a request. */
  private heldByReports(estimate: number, now: number): number {
    const { requests, tokens } = this.rate.units;
    return Math.max(requests.heldMs(1, now), tokens?.heldMs(this.leastOf(estimate), now) ?? 0);
  }

  /**
   * The tokens that must be left for a request: all of them in a window that opens at one time. A
   * bucket that refills is paced, and any rest shows that it is open.
   */
  private leastOf(estimate: number): number {
    return this.rate.units.tokens?.reported.isExact === true ? this.costOf(estimate) : 1;
  }

  /** The mean rate of requests that the limits permit, per ms. */
  private meanPerMs(estimate: number): number {
    const { requests, tokens } = this.rate.units;
    const tokensPerMs = tokens?.meanPerMs ?? Number.POSITIVE_INFINITY;
    return Math.min(requests.meanPerMs, tokensPerMs / this.costOf(estimate));
  }

  /** The tokens of a mean request. */
  private costOf(estimate: number): number {
    const { ratio } = this.rate.units;
    return Math.max(1, ratio.expected(0) ?? 0, ratio.expected(estimate) ?? estimate);
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

  /** @param more further attempts in flight that another learner recorded; below 0: fewer */
  countEarlier(more: number): void {
    this.log.inFlight += more;
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
