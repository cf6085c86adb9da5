import type { ReportedLimit, Verdict } from '../../model/feedback.ts';
import type { Amounts } from '../../model/ticket.ts';
import type { EarlierAttempts } from './attempts/first-attempts.ts';
import { Reactions } from './attempts/reactions.ts';
import { SendHistory, type SendHistoryListener } from './attempts/send-history.ts';
import type { SentAttempt } from './attempts/sent-attempt.ts';
import { ConcurrencyCapDetector } from './concurrency/concurrency-cap-detector.ts';
import { LimitSigns, resetOf } from './limit-signs.ts';
import type { RateSnapshot } from './rate-snapshot.ts';
import { ClosedTime } from './reopening/closed-time.ts';
import { SendingRate } from './sending-rate.ts';
import { START_AT_ONCE, TOLD_AT_ONCE, Trust } from './trust.ts';
import type { HardLimits } from './units/hard-limits.ts';

/** The shortest delay, which lets the present turn end. */
const TURN_MS = 1e-3;

/**
 * Keeps a provider fully used without rejections. It learns the rate and the number of concurrent
 * requests that the provider accepts from configured limits, reported limits, and rejections. It is
 * pure: time is an argument, and everything is dated by the time of sending. Its parts answer four
 * questions, and it tells them what was sent, and with which result:
 * - {@link Trust}: how much may be sent before more is verified; bounds rejections if estimates are
 *   wrong
 * - {@link SendingRate}: how fast
 * - {@link ConcurrencyCapDetector}: how many in flight
 * - {@link ClosedTime}: when to send, while the provider rejects everything
 */
export class RateLearner implements SendHistoryListener {
  readonly rate: SendingRate;
  readonly cap = new ConcurrencyCapDetector();
  readonly closed: ClosedTime;
  protected readonly trust: Trust;
  protected readonly log = new SendHistory(this);
  protected readonly reactions: Reactions;
  private readonly signs = new LimitSigns();
  /** Before the first rejection: the greatest number of attempts without a result at once. */
  private mostUnknown = 0;
  /** Whether a limit that the first answers report lets more go at once: from then on, or never. */
  private firstReport: 'awaited' | 'counts' | 'ignored' = 'awaited';

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
    this.trust = new Trust(startAtOnce);
    this.rate = new SendingRate(hard, past, reactionMs > 0);
    this.closed = new ClosedTime(maxRetryAfterMs);
    this.reactions = new Reactions(reactionMs);
  }

  /** The user has set how many may go at first: reports do not let more go at once. */
  keepStart(): void {
    this.firstReport = 'ignored';
  }

  /** Begins with a rate, per ms, that was learned before. */
  begin(perMs: number, now: number): void {
    this.rate.estimate.begin(perMs, now);
  }

  /**
   * Milliseconds until the next attempt may be sent, or until the caller must ask again; Infinity
   * if an answer must come first.
   * @param tokens the estimated tokens of the attempt
   */
  wait(now: number, tokens = 0): number {
    const { log, rate } = this;
    log.advance(now);
    const isUnverified = !rate.estimate.trial.isSending && !this.trust.mayGo && log.unknown > 0;
    const waitMs = isUnverified
      ? Math.max(TURN_MS, log.nextMs(now) + TURN_MS)
      : this.heldMs(tokens, now);
    if (waitMs > 0) rate.demand.waits(now + waitMs, !isUnverified);
    return waitMs;
  }

  private heldMs(tokens: number, now: number): number {
    const { limit } = this.cap;
    if (limit !== undefined && this.log.inFlight >= limit) return Number.POSITIVE_INFINITY;
    const { until } = this.closed;
    return now < until ? until - now : this.rate.wait(this.learnedPerMs, tokens, now);
  }

  /** Milliseconds until the present rates let an attempt pass, however long that is. */
  plannedMs(tokens: number, now: number): number {
    const waitMs = this.rate.units.wait(this.learnedPerMs, tokens, now);
    return Math.max(0, this.closed.until - now, waitMs);
  }

  /**
   * The rate learned from rejections; Infinity under a concurrency cap, which explains the
   * rejections.
   */
  protected get learnedPerMs(): number {
    const { cap, log, rate, reactions } = this;
    if (cap.limit !== undefined) return Number.POSITIVE_INFINITY;
    const isReacting = log.hasRejected && log.settledCount <= reactions.last.order;
    return rate.learnedPerMs(isReacting ? log.horizonMs : 0);
  }

  /**
   * @param tokens the estimated tokens of the attempt
   * @param hasRoom whether more could be in flight, so that only the demand bounds what is sent
   */
  take(tokens: number, now: number, hasRoom = true): SentAttempt {
    return this.add(this.rate.take(tokens, now, this.log.inFlight, hasRoom, this.closed));
  }

  /** An attempt in flight that was sent before anything was learned. */
  early(at: number): SentAttempt {
    return this.add(this.rate.early(at, this.log.inFlight));
  }

  private add(sent: SentAttempt): SentAttempt {
    this.reactions.sent(sent);
    this.trust.spend();
    this.log.add(sent);
    return sent;
  }

  /**
   * An attempt that was sent elsewhere.
   * @param isPaced whether it had to wait for the pace
   * @param hasWaited whether it had to wait at all
   */
  observed(tokens: number, at: number, isPaced: boolean, hasWaited: boolean): SentAttempt {
    const { demand, units } = this.rate;
    this.log.advance(at);
    units.wait(this.learnedPerMs, tokens, at);
    // The cause of its wait is not known here.
    demand.isPaced = isPaced;
    demand.hasWaited = hasWaited;
    demand.isHeld = hasWaited;
    demand.waitsUntil = Number.POSITIVE_INFINITY;
    return this.take(tokens, at);
  }

  /** An attempt in flight whose sending another learner recorded. */
  resumed(at: number): SentAttempt {
    const sent = this.early(at);
    // The other learner has charged it.
    this.trust.giveBack();
    this.reactions.covers(sent.order);
    return sent;
  }

  /** The attempt was answered. @param used its usage, if that is known */
  answered(sent: SentAttempt, { limits }: Verdict, used: Amounts | undefined, now: number): void {
    if (used !== undefined) this.rate.units.settle(sent, used);
    this.log.end();
    this.begun(sent, limits, now);
  }

  /** The answer to the attempt has begun, so it was accepted. It may go on for long. */
  begun(sent: SentAttempt, limits: Verdict['limits'], now: number): void {
    if (!sent.isAnswered) {
      this.signs.answered(limits);
      this.rate.report(sent, limits, now);
      this.log.accept(sent, now);
      if (this.firstReport === 'awaited' && !this.log.hasRejected) this.permitTold(limits);
      // Only an answer can prove a named wait too long; silence cannot.
      this.closed.named.accepted(sent.at);
    }
    this.log.advance(now);
  }

  /**
   * What the first answer reports as left may be sent at once: that bounds the rejections. The
   * answer may have been made before any of the attempts in flight were counted.
   */
  private permitTold(limits: readonly ReportedLimit[] = []): void {
    const remaining = this.rate.units.leftBy(limits);
    if (remaining === undefined) return;
    this.firstReport = 'counts';
    this.trust.permit(Math.min(TOLD_AT_ONCE, remaining) - this.log.inFlight);
  }

  /** The attempt ended without an answer, or was never sent, and is no evidence. */
  withdrawn(sent: SentAttempt, isSent: boolean, now: number): void {
    if (!isSent) this.rate.units.reject(sent.charges, true);
    if (sent.outcome === 'unknown') this.trust.giveBack();
    this.log.withdraw(sent);
    this.log.advance(now);
  }

  /** The attempt was rejected, for its rate or because of an overload. */
  rejected(sent: SentAttempt, verdict: Verdict, now: number): void {
    this.log.reject(sent, now);
    this.rate.units.reject(sent.charges, false);
    sent.isForeign = this.signs.isForeign(verdict);
    sent.isOfOtherKind = sent.isForeign && this.signs.isKnown;
    // A trial is sent too fast on purpose, but a wait that its rejection names holds.
    if (!sent.isTrial || verdict.retryAfterMs !== undefined) this.explain(sent, verdict, now);
    this.log.advance(now);
  }

  /** Finds the cause of a rejection, and reacts to it. */
  private explain(sent: SentAttempt, verdict: Verdict, now: number): void {
    const { closed, rate, reactions } = this;
    const { share } = rate.estimate;
    const isLater = reactions.isLater(sent);
    const isByChance = closed.isByChance(share);
    this.trust.lose(isLater && !isByChance);
    closed.rejected(sent.order);
    const endMs = rate.explain(sent, verdict, now);
    this.signs.describe(sent, verdict);
    const isAtCap = this.cap.rejected(sent, verdict, isLater, share, now);
    // Attempts now in flight were sent before this reaction: their rejections cause no other one.
    if (isLater) reactions.react(rate.demand.count, now);
    sent.reaction = reactions.last;
    if (isLater && sent.isExplained) closed.named.reset();
    else if (isLater && !isAtCap) this.close(endMs, isByChance, now);
    const { retryAfterMs, limit } = verdict;
    if (retryAfterMs === undefined || limit === 'concurrency' || resetOf(verdict)) return;
    closed.name(retryAfterMs, sent.at, now, isLater);
    sent.namedUntil = closed.named.earliest;
  }

  private close(endMs: number | undefined, isByChance: boolean, now: number): void {
    const { closed, rate } = this;
    if (closed.begin()) {
      rate.delay();
      // With a measured rate, a first rejection only delays the next attempt by an interval.
      if (rate.estimate.isKnown) return;
    } else if (isByChance) return;
    closed.probe(now, endMs, this.log.horizonMs, rate.intervalMs, rate.demand.meanMs(now));
  }

  /**
   * A request of another sender was rejected just now. While the provider is closed, that is part
   * of the same closure.
   */
  hear(verdict: Verdict, now: number): void {
    const sent = this.closed.isClosed ? this.resumed(now) : this.observed(0, now, true, true);
    this.rejected(sent, verdict, now);
  }

  /** Called by the log: the attempt is known to be accepted. */
  accepted(sent: SentAttempt): void {
    const { log, rate, reactions } = this;
    const { saved, measuredPerMs } = rate.estimate;
    rate.demand.accepted(sent.at);
    // Attempts in flight at the last reaction were sent too fast: their number sets no measure.
    const atOnce = reactions.isLater(sent) ? sent.unknown : 0;
    const out = Math.max(log.unknown, saved) + measuredPerMs * reactions.reactionMs;
    let most = Math.max(2 * atOnce, out + START_AT_ONCE);
    if (!log.hasRejected) {
      this.mostUnknown = Math.max(this.mostUnknown, sent.unknown);
      const told = this.firstReport === 'counts' ? TOLD_AT_ONCE : 0;
      most = Math.max(most, 2 * this.mostUnknown, told, rate.units.burst(sent.at));
    }
    this.trust.earn(most);
    this.cap.isAccepted(sent);
    this.closed.accepted(sent.order);
  }

  /** Called by the log: the results of this attempt and of all sent before it are known. */
  settled(sent: SentAttempt): void {
    const { cap, rate } = this;
    if (sent.isTrial) {
      rate.estimate.tried(sent);
      return;
    }
    cap.settled(sent, rate.estimate.share);
    // A rejection by a cap or a reported limit says nothing about the rate.
    if (cap.limit !== undefined || sent.isExplained || sent.outcome === 'withdrawn') return;
    rate.settled(sent, this.closed.named.earliest, this.log.horizonMs);
  }

  snapshot(now: number): RateSnapshot {
    const { cap, closed, learnedPerMs, rate } = this;
    return { ...rate.snapshot(learnedPerMs, now), cap: cap.limit, isOut: closed.isOut };
  }
}
