import { Demand } from './attempts/demand.ts';
import type { EarlierAttempts } from './attempts/first-attempts.ts';
import { Reactions } from './attempts/reactions.ts';
import { SendHistory, type SendHistoryListener } from './attempts/send-history.ts';
import type { SentAttempt } from './attempts/sent-attempt.ts';
import { ConcurrencyCapDetector } from './concurrency/concurrency-cap-detector.ts';
import { RateEstimate } from './measured/rate-estimate.ts';
import type { RateSnapshot } from './rate-snapshot.ts';
import { ClosedTime } from './reopening/closed-time.ts';
import { START_AT_ONCE, Trust } from './trust.ts';
import type { RateOrigin } from './units/unit-rate.ts';
import { type HardLimits, UnitRates } from './units/unit-rates.ts';

/**
 * If rejections take longer than this number of intervals, a reaction lowers the pace before the rate
 * is measured anew: as many attempts would be sent too fast until then.
 */
const SLOW_REJECTIONS = 3;

/**
 * The parts of a learner, and what they say together. Separate parts answer four questions:
 * - {@link Trust}: how much may be sent before more is verified; bounds rejections if estimates are
 *   wrong
 * - {@link RateEstimate} (by rejections) and {@link UnitRates} (by configured and reported limits):
 *   how fast
 * - {@link ConcurrencyCapDetector}: how many in flight
 * - {@link ClosedTime}: when to send, while the provider rejects everything
 */
export abstract class LearnerParts implements SendHistoryListener {
  protected readonly log = new SendHistory(this);
  protected readonly trust: Trust;
  protected readonly closed: ClosedTime;
  protected readonly cap = new ConcurrencyCapDetector();
  protected readonly estimate: RateEstimate;
  protected readonly rates: UnitRates;
  protected readonly demand: Demand;
  protected readonly reactions: Reactions;
  protected inFlight = 0;
  protected hasRejected = false;
  /** The number of the first attempts of which all results are known. */
  protected settledCount = 0;
  protected readonly hard: HardLimits;
  protected _measuredAt: number | undefined = undefined;

  /**
   * @param past the attempts that were sent and accepted before the first rejection
   * @param maxRetryAfterMs no correction makes a named wait longer than this
   * @param startAtOnce how many attempts may be sent before anything is verified
   * @param reactionMs how long a reaction takes to be in force where other processes send, in ms
   */
  constructor(
    hard: HardLimits,
    past: EarlierAttempts = { accepted: 0, firstAt: 0 },
    maxRetryAfterMs = Number.POSITIVE_INFINITY,
    startAtOnce = START_AT_ONCE + past.accepted,
    reactionMs = 0,
  ) {
    this.hard = hard;
    this.reactions = new Reactions(reactionMs);
    this.closed = new ClosedTime(maxRetryAfterMs);
    this.trust = new Trust(startAtOnce);
    this.estimate = new RateEstimate(past, hard, reactionMs > 0);
    this.demand = new Demand(past);
    this.rates = new UnitRates(hard);
  }

  /** Begins with a rate, per ms, that was learned before. */
  begin(perMs: number, now: number): void {
    this.estimate.begin(perMs, now);
  }

  /** Whether the provider rejects everything, so that single probes are sent. */
  get isOut(): boolean {
    return this.closed.isOut;
  }

  /** The last computed rate, in requests per second. */
  get perSecond(): number {
    return this.rates.requests.meanPerMs * 1_000;
  }

  /** The source of the last computed rate. */
  get origin(): RateOrigin {
    return this.rates.requests.origin;
  }

  /** The last measured rate, in requests per second; undefined if there is none. */
  get measuredPerSecond(): number | undefined {
    return this.estimate.isKnown ? this.estimate.measuredPerMs * 1_000 : undefined;
  }

  /** When the last measured attempt was sent; undefined if nothing was measured. */
  get measuredAt(): number | undefined {
    return this._measuredAt;
  }

  /** How many attempts may be in flight; undefined if no cap is known. */
  get limit(): number | undefined {
    return this.cap.limit;
  }

  /** The end of the wait that rejections named; -Infinity if there is none. */
  get namedUntil(): number {
    return this.closed.named.until;
  }

  /** The true wait as a multiple of the named one. */
  get waitScale(): number {
    return this.closed.named.scale;
  }

  /** Whether tokens are limited. Otherwise they are not estimated. */
  get countsTokens(): boolean {
    return this.rates.tokens !== undefined;
  }

  /**
   * The rate learned from rejections; Infinity under a concurrency cap, which explains the
   * rejections.
   */
  protected get learnedPerMs(): number {
    const { estimate } = this;
    if (this.cap.limit !== undefined) return Number.POSITIVE_INFINITY;
    return estimate.trial.paceOf(this.isReacting ? estimate.reactionPerMs : estimate.pacePerMs);
  }

  /** Whether a rejection came back, but not yet the results that the new rate is measured by. */
  private get isReacting(): boolean {
    if (!this.hasRejected || this.settledCount > this.reactions.last.order) return false;
    return this.log.horizonMs > SLOW_REJECTIONS * this.intervalMs;
  }

  /** The mean interval between accepted attempts; 0 if none was accepted. */
  protected get intervalMs(): number {
    const { estimate, demand } = this;
    return estimate.isKnown ? 1 / estimate.measuredPerMs : demand.intervalMs;
  }

  /** Called by the log: the attempt is known to be accepted. */
  abstract accepted(sent: SentAttempt): void;

  /** Called by the log: the results of this attempt and of all sent before it are known. */
  abstract settled(sent: SentAttempt): void;

  snapshot(now: number): RateSnapshot {
    const { estimate } = this;
    const { requests, tokens } = this.rates;
    // Limits may have changed since the last request.
    requests.wait(this.learnedPerMs, now);
    tokens?.wait(Number.POSITIVE_INFINITY, now);
    const { bounds } = estimate;
    return {
      perSecond: requests.meanPerMs * 1_000,
      origin: requests.origin,
      ceilingPerSecond: this.measuredPerSecond,
      leastPerSecond: bounds && bounds.least * 1_000,
      mostPerSecond: bounds && bounds.most * 1_000,
      evidence: estimate.isKnown ? estimate.restsOn : undefined,
      rejectedByChance: estimate.share,
      burst: Math.floor(estimate.saved),
      cap: this.limit,
      tokens: tokens && { perSecond: tokens.meanPerMs * 1_000, origin: tokens.origin },
      isOut: this.isOut,
      sinceCutMs: this._measuredAt === undefined ? undefined : now - this._measuredAt,
    };
  }
}
