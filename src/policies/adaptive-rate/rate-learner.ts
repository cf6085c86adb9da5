import type { Verdict } from '../../model/feedback.ts';
import { ClosedTime } from './closed-time.ts';
import { ConcurrencyCapDetector } from './concurrency-cap-detector.ts';
import { Demand } from './demand.ts';
import { LimitSigns, resetOf } from './limit-signs.ts';
import { type EarlierAttempts, RateEstimate } from './rate-estimate.ts';
import type { RateSnapshot } from './rate-snapshot.ts';
import { Reactions } from './reactions.ts';
import { SendHistory, type SendHistoryListener } from './send-history.ts';
import { Sending } from './sending.ts';
import type { SentAttempt } from './sent-attempt.ts';
import { shortestOf } from './shortest-limit.ts';
import { START_AT_ONCE, Trust } from './trust.ts';
import type { RateOrigin } from './unit-rate.ts';
import { type HardLimits, UnitRates } from './unit-rates.ts';

/** How long a computed rate is valid: it changes while requests wait. */
const REASK_MS = 1_000;
/**
 * If rejections take longer than this number of intervals, a reaction lowers the pace before the rate
 * is measured anew: as many attempts would be sent too fast until then.
 */
const SLOW_REJECTIONS = 3;
/** As many rejections in a row are an outage if they are less probable by chance than this. */
const IMPROBABLE = 0.05;
/** The shortest delay, which lets the present turn end. */
const TURN_MS = 1e-3;

/**
 * Keeps a provider fully used without rejections. It learns the rate and the number of concurrent
 * requests that the provider accepts from configured limits, reported limits, and rejections. It is
 * pure: time is an argument, and everything is dated by the time of sending.
 *
 * Separate parts answer four questions:
 * - {@link Trust}: how much may be sent before more is verified; bounds rejections if estimates are
 *   wrong
 * - {@link RateEstimate} (by rejections) and {@link UnitRates} (by configured and reported limits):
 *   how fast
 * - {@link ConcurrencyCapDetector}: how many in flight
 * - {@link ClosedTime}: when to send, while the provider rejects everything
 */
export class RateLearner implements SendHistoryListener {
  protected readonly log = new SendHistory(this);
  protected readonly trust: Trust;
  private readonly signs = new LimitSigns();
  protected readonly closed: ClosedTime;
  protected readonly cap = new ConcurrencyCapDetector();
  protected readonly estimate: RateEstimate;
  protected readonly rates: UnitRates;
  protected readonly demand: Demand;
  protected readonly reactions: Reactions;
  private inFlight = 0;
  private hasRejected = false;
  /** The number of the first attempts of which all results are known. */
  private settledCount = 0;
  /** The greatest number of attempts that had no known result at once. */
  private mostUnknown = 0;
  private readonly hard: HardLimits;
  private _measuredAt: number | undefined = undefined;

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
   * Milliseconds until the next attempt may be sent, or until the caller must ask again; Infinity
   * if an answer must come first.
   * @param estimate the estimated tokens of the attempt
   */
  wait(now: number, estimate = 0): number {
    const waitMs = this.waitMs(estimate, now);
    if (waitMs > 0) this.demand.hasWaited = true;
    return waitMs;
  }

  private waitMs(estimate: number, now: number): number {
    this.log.advance(now);
    if (!this.trust.mayGo && this.log.unknown > 0) {
      return Math.max(TURN_MS, this.log.nextMs(now) + TURN_MS);
    }
    const waitMs = this.heldMs(estimate, now);
    if (waitMs > 0) this.demand.isHeld = true;
    return waitMs;
  }

  private heldMs(estimate: number, now: number): number {
    const { limit } = this.cap;
    if (limit !== undefined && this.inFlight >= limit) return Number.POSITIVE_INFINITY;
    const { until } = this.closed;
    if (now < until) return until - now;
    const { rates } = this;
    const waitMs = rates.wait(this.learnedPerMs, estimate, now);
    if (rates.isPacing(now)) this.demand.isPaced = true;
    return Math.min(waitMs, REASK_MS);
  }

  /**
   * The rate learned from rejections; Infinity under a concurrency cap, which explains the
   * rejections.
   */
  protected get learnedPerMs(): number {
    const { estimate } = this;
    if (this.cap.limit !== undefined) return Number.POSITIVE_INFINITY;
    return this.isReacting ? estimate.reactionPerMs : estimate.pacePerMs;
  }

  /** Whether a rejection came back, but not yet the results that the new rate is measured by. */
  private get isReacting(): boolean {
    if (!this.hasRejected || this.settledCount > this.reactions.last.order) return false;
    return this.log.horizonMs > SLOW_REJECTIONS * this.intervalMs;
  }

  /**
   * @param estimate the estimated tokens of the attempt
   * @param hasRoom whether more could be in flight, so that only the demand bounds what is sent
   */
  take(estimate: number, now: number, hasRoom = true): Sending {
    const { demand, rates } = this;
    const { requests } = rates;
    const { isPaced, hasWaited } = demand;
    const stepMs = 1 / requests.perMs;
    const idleMs = demand.idleMs(requests.freeAt, stepMs, this.intervalMs, now);
    // If a named wait held requests back, there may have been demand.
    const isPause = hasRoom && this.closed.named.until <= demand.lastSentAt;
    if (isPause && idleMs > 0) rates.resumed(now);
    // Time spent waiting for other causes, such as the end of a closure, saves no capacity.
    // Capacity that was saved before stays while the attempt waits for results.
    const newMs = hasWaited ? 0 : this.estimate.saved * stepMs;
    const unpacedMs = demand.goesOn ? Number.POSITIVE_INFINITY : newMs;
    const savedMs = isPaced ? requests.lateMs : unpacedMs;
    const pacePerMs = requests.perMs;
    const lateMs = this.lateMs(now);
    const charges = rates.take(estimate, now, savedMs);
    const sending = this.add(
      new Sending(
        {
          at: now,
          order: demand.count,
          others: this.inFlight,
          pacePerMs,
          isPaced,
          isSaved: demand.isEarly(now),
          idleMs,
          lateMs,
          tokens: charges.tokens,
          requests: charges.requests,
        },
        estimate,
      ),
    );
    demand.saves(requests.freeAt + requests.lateMs, stepMs, now);
    return sending;
  }

  /**
   * While the provider rejects everything: how much later than planned an attempt is sent now, in
   * ms. A busy process or another policy has delayed it.
   */
  private lateMs(now: number): number {
    if (!this.closed.isClosed || !this.demand.hasWaited) return 0;
    const plannedAt = Math.max(this.closed.until, this.rates.requests.freeAt);
    return Number.isFinite(plannedAt) ? Math.max(0, now - plannedAt) : 0;
  }

  /** An attempt in flight that was sent before anything was learned. */
  early(at: number, estimate = 0): Sending {
    return this.add(
      new Sending(
        {
          at,
          order: this.demand.count,
          others: this.inFlight,
          pacePerMs: Number.POSITIVE_INFINITY,
          isPaced: false,
          isSaved: false,
          idleMs: 0,
          requests: this.rates.requests.take(1, at),
        },
        estimate,
      ),
    );
  }

  private add(sending: Sending): Sending {
    this.reactions.sent(sending);
    this.demand.add(sending.at);
    this.inFlight += 1;
    this.trust.spend();
    this.log.add(sending);
    return sending;
  }

  /**
   * An attempt that was sent elsewhere.
   * @param isPaced whether it had to wait for the pace
   * @param hasWaited whether it had to wait at all
   */
  observed(estimate: number, at: number, isPaced: boolean, hasWaited: boolean): Sending {
    this.log.advance(at);
    this.rates.set(this.learnedPerMs, at);
    this.demand.isPaced = isPaced;
    this.demand.hasWaited = hasWaited;
    // The cause of its wait is not known here.
    this.demand.isHeld = hasWaited;
    return this.take(estimate, at);
  }

  /** An attempt in flight whose sending another learner recorded. */
  resumed(at: number, estimate: number): Sending {
    const sending = this.early(at, estimate);
    // The other learner has charged it.
    this.trust.giveBack();
    this.reactions.covers(sending.order);
    return sending;
  }

  /** The attempt was answered. @param used its tokens, if they are known */
  answered(sending: Sending, verdict: Verdict, used: number | undefined, now: number): void {
    this.inFlight -= 1;
    if (used !== undefined) this.rates.settle(sending, used);
    this.signs.answered(verdict);
    this.rates.report(verdict.limits ?? [], sending, true, now);
    this.log.accept(sending, now);
    // Only an answer can prove a named wait too long; silence cannot.
    this.closed.named.accepted(sending.at);
    this.log.advance(now);
  }

  /** The attempt ended without an answer, or was never sent, and is no evidence. */
  withdrawn(sending: Sending, isSent: boolean, now: number): void {
    this.inFlight -= 1;
    if (!isSent) this.rates.reject(sending, true);
    if (sending.outcome === 'unknown') this.trust.giveBack();
    this.log.withdraw(sending);
    this.log.advance(now);
  }

  /** The attempt was rejected, for its rate or because of an overload. */
  rejected(sending: Sending, verdict: Verdict, now: number): void {
    this.inFlight -= 1;
    this.hasRejected = true;
    const isLater = this.reactions.isLater(sending);
    this.log.reject(sending, now);
    this.trust.lose(isLater && !this.isByChance);
    this.closed.rejected(sending.order);
    this.rates.reject(sending, false);
    const { limits = [], retryAfterMs } = verdict;
    const isDated =
      retryAfterMs !== undefined || limits.some(({ resetMs }) => resetMs !== undefined);
    sending.isForeign = this.signs.isForeign(verdict);
    sending.isOfOtherKind = sending.isForeign && this.signs.isKnown;
    const { remaining = 1 } = shortestOf(limits, 'requests') ?? {};
    sending.usedUpPerMs = remaining < 1 ? this.rates.requests.wholePerMs(now) : 0;
    sending.isExplained = this.rates.report(limits, sending, false, now) && isDated;
    this.stop(sending, verdict, isLater, now);
    this.log.advance(now);
  }

  /** Whether the named wait is only the reset time of a limit that admits requests earlier. */
  isOnlyReset(verdict: Verdict): boolean {
    const limit = resetOf(verdict);
    return limit !== undefined && this.rates.refillsGradually(limit);
  }

  /**
   * A request of another sender was rejected just now. While the provider is closed, that is part
   * of the same closure.
   */
  hear(verdict: Verdict, now: number): void {
    const sending = this.closed.isClosed ? this.resumed(now, 0) : this.observed(0, now, true, true);
    this.rejected(sending, verdict, now);
  }

  private stop(sending: Sending, verdict: Verdict, isLater: boolean, now: number): void {
    const { retryAfterMs, limits, limit } = verdict;
    const others = this.cap.othersOf(sending);
    this.cap.rejected(sending, now);
    const isBare = retryAfterMs === undefined && limits === undefined && limit === undefined;
    sending.isBare = isBare && !this.signs.isTold;
    const isToldCap = limit === 'concurrency' && others > 0;
    const isAtCap = isToldCap || this.cap.explains(others);
    if (isLater) {
      if (limit === 'concurrency') this.cap.told(Math.max(1, others));
      else if (!sending.isExplained && this.mayBeCapped) this.cap.stopped(others, sending.isBare);
      // Attempts now in flight were sent before this reaction: their rejections cause no other one.
      this.reactions.react(this.demand.count, now);
    }
    sending.reaction = this.reactions.last;
    if (sending.isExplained && isLater) this.closed.named.reset();
    else if (!isAtCap && isLater) this.close(now);
    if (retryAfterMs !== undefined && limit !== 'concurrency' && resetOf(verdict) === undefined) {
      this.closed.name(retryAfterMs, sending.at, now, isLater);
    }
  }

  /** Whether one more rejection is probable, where attempts are rejected whatever the rate. */
  private get isByChance(): boolean {
    const { share } = this.estimate;
    return share > 0 && share ** (this.closed.row + 1) > IMPROBABLE;
  }

  private close(now: number): void {
    const { closed, demand, estimate, rates, isByChance } = this;
    if (closed.begin()) {
      rates.requests.delayUntil(demand.lastSentAt + 1 / rates.requests.perMs);
      // With a measured rate, a first rejection only delays the next attempt by an interval.
      if (estimate.isKnown) return;
    } else if (isByChance) return;
    closed.probe(now, this.log.horizonMs, this.intervalMs, demand.meanMs(now));
  }

  /** Whether rejections may be those of a cap: where some come by chance, no new cap is found. */
  private get mayBeCapped(): boolean {
    return this.cap.limit !== undefined || this.estimate.share === 0;
  }

  /** The mean interval between accepted attempts; 0 if none was accepted. */
  protected get intervalMs(): number {
    const { estimate, demand } = this;
    return estimate.isKnown ? 1 / estimate.measuredPerMs : demand.intervalMs;
  }

  /** Called by the log: the attempt is known to be accepted. */
  accepted(sent: SentAttempt): void {
    const { reactions } = this;
    this.demand.accepted();
    // Attempts in flight at the last reaction were sent too fast: their number sets no measure.
    const atOnce = reactions.isLater(sent) ? sent.unknown : 0;
    const out =
      Math.max(this.log.unknown, this.estimate.saved) +
      this.estimate.measuredPerMs * reactions.reactionMs;
    const most = Math.max(2 * atOnce, out + START_AT_ONCE);
    this.trust.earn(this.hasRejected ? most : Math.max(most, this.mostUnrejected(sent)));
    this.cap.isAccepted(sent);
    this.closed.accepted(sent.order);
  }

  /**
   * The most trust before the first rejection: twice the greatest number of attempts without a
   * result, and at least the whole of a known limit.
   */
  private mostUnrejected({ at, unknown }: SentAttempt): number {
    this.mostUnknown = Math.max(this.mostUnknown, unknown);
    const reported = this.rates.requests.reportedLimit(at);
    return Math.max(2 * this.mostUnknown, reported, this.hard.burst('requests'));
  }

  /** Called by the log: the results of this attempt and of all sent before it are known. */
  settled(sent: SentAttempt): void {
    this.settledCount = sent.order + 1;
    if (this.mayBeCapped) this.cap.settled(sent);
    // A rejection by a cap or a reported limit says nothing about the rate.
    if (this.cap.limit !== undefined || sent.isExplained || sent.outcome === 'withdrawn') return;
    const { closed, log, estimate } = this;
    if (estimate.settled(sent, closed.named.earliest, log.horizonMs)) this._measuredAt = sent.at;
  }

  snapshot(now: number): RateSnapshot {
    const { estimate } = this;
    const { requests, tokens } = this.rates;
    requests.wait(this.learnedPerMs, now);
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
