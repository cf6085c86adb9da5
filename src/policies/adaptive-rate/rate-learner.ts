import type { Verdict } from '../../model/feedback.ts';
import { AttemptPacer } from './attempt-pacer.ts';
import type { SentAttempt } from './attempts/sent-attempt.ts';
import { LimitChange, RaisedLimit } from './limit-change.ts';
import { LimitSigns, resetOf } from './limit-signs.ts';
import { START_AT_ONCE } from './trust.ts';
import { shortestOf } from './units/shortest-limit.ts';

/** As many rejections in a row are an outage if they are less probable by chance than this. */
const IMPROBABLE = 0.05;

/**
 * Keeps a provider fully used without rejections. It learns the rate and the number of concurrent
 * requests that the provider accepts from configured limits, reported limits, and rejections. It is
 * pure: time is an argument, and everything is dated by the time of sending. Here it reads results;
 * {@link AttemptPacer} decides when attempts are sent, and `LearnerParts` holds what is learned.
 */
export class RateLearner extends AttemptPacer {
  private readonly signs = new LimitSigns();
  private readonly change = new LimitChange();
  private readonly raised = new RaisedLimit(this.hard.perMs('requests'));
  /** The greatest number of attempts that had no known result at once. */
  private mostUnknown = 0;

  /** The attempt was answered. @param used its tokens, if they are known */
  answered(sending: SentAttempt, verdict: Verdict, used: number | undefined, now: number): void {
    this.inFlight -= 1;
    if (used !== undefined) this.rates.settle(sending, used);
    this.signs.answered(verdict);
    const { limits = [] } = verdict;
    this.rates.report(limits, sending, true, now);
    const hardPerMs = this.hard.perMs('requests');
    this.scale(this.raised.follow(hardPerMs), hardPerMs);
    const limit = shortestOf(limits, 'requests');
    if (limit !== undefined) {
      this.scale(this.change.report(limit, this.estimate.measuredPerMs), hardPerMs);
    }
    this.log.accept(sending, now);
    // Only an answer can prove a named wait too long; silence cannot.
    this.closed.named.accepted(sending.at);
    this.log.advance(now);
  }

  /**
   * Scales the learned rate with a limit that has changed by a factor, up to the configured limit at
   * most: otherwise a raise that headers tell and the user configures would count twice.
   */
  private scale(factor: number, hardPerMs: number): void {
    if (factor === 1) return;
    const most = Math.max(1, hardPerMs / this.estimate.measuredPerMs);
    this.estimate.scale(Math.min(factor, most));
  }

  /** The attempt ended without an answer, or was never sent, and is no evidence. */
  withdrawn(sending: SentAttempt, isSent: boolean, now: number): void {
    this.inFlight -= 1;
    if (!isSent) this.rates.reject(sending, true);
    if (sending.outcome === 'unknown') this.trust.giveBack();
    this.log.withdraw(sending);
    this.log.advance(now);
  }

  /** The attempt was rejected, for its rate or because of an overload. */
  rejected(sending: SentAttempt, verdict: Verdict, now: number): void {
    this.inFlight -= 1;
    this.hasRejected = true;
    this.log.reject(sending, now);
    this.rates.reject(sending, false);
    sending.isForeign = this.signs.isForeign(verdict);
    sending.isOfOtherKind = sending.isForeign && this.signs.isKnown;
    // A trial is sent too fast on purpose, but a wait that its rejection names holds.
    if (!sending.isTrial || verdict.retryAfterMs !== undefined) this.explain(sending, verdict, now);
    this.log.advance(now);
  }

  /** Finds the cause of a rejection, and reacts to it. */
  private explain(sending: SentAttempt, verdict: Verdict, now: number): void {
    const isLater = this.reactions.isLater(sending);
    this.trust.lose(isLater && !this.isByChance);
    this.closed.rejected(sending.order);
    const { limits = [], retryAfterMs } = verdict;
    const isDated =
      retryAfterMs !== undefined || limits.some(({ resetMs }) => resetMs !== undefined);
    const { remaining = 1, resetMs } = shortestOf(limits, 'requests') ?? {};
    sending.usedUpPerMs = remaining < 1 ? this.rates.requests.wholePerMs(now) : 0;
    sending.isExplained = this.rates.report(limits, sending, false, now) && isDated;
    const endMs = remaining < 1 ? resetMs : undefined;
    this.stop(sending, verdict, isLater, now, endMs);
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
    const sending = this.closed.isClosed ? this.resumed(now) : this.observed(0, now, true, true);
    this.rejected(sending, verdict, now);
  }

  private stop(
    sending: SentAttempt,
    verdict: Verdict,
    isLater: boolean,
    now: number,
    endMs: number | undefined,
  ): void {
    const { kind, retryAfterMs, limits, limit } = verdict;
    const others = this.cap.othersOf(sending);
    this.cap.rejected(sending, now);
    const isBare = retryAfterMs === undefined && limits === undefined && limit === undefined;
    sending.isBare = isBare && !this.signs.isTold;
    sending.mayBeByCap = this.signs.namesSameWait(verdict) || sending.isBare;
    const isToldCap = limit === 'concurrency' && others > 0;
    const isAtCap = isToldCap || this.cap.explains(others);
    if (isLater) {
      if (limit === 'concurrency') this.cap.told(others);
      else if (!sending.isExplained && this.mayBeCapped) {
        // By a 429 with a wait, a rate rejects more often than a cap.
        const isLikely = kind === 'overloaded' ? sending.mayBeByCap : sending.isBare;
        this.cap.stopped(others, isLikely, retryAfterMs);
      }
      // Attempts now in flight were sent before this reaction: their rejections cause no other one.
      this.reactions.react(this.demand.count, now);
    }
    sending.reaction = this.reactions.last;
    if (sending.isExplained && isLater) this.closed.named.reset();
    else if (!isAtCap && isLater) this.close(now, endMs);
    if (retryAfterMs !== undefined && limit !== 'concurrency' && resetOf(verdict) === undefined) {
      this.closed.name(retryAfterMs, sending.at, now, isLater);
      sending.namedUntil = this.closed.named.earliest;
    }
  }

  /** Whether one more rejection is probable, where attempts are rejected whatever the rate. */
  private get isByChance(): boolean {
    const { share } = this.estimate;
    return share > 0 && share ** (this.closed.row + 1) > IMPROBABLE;
  }

  private close(now: number, endMs = Number.POSITIVE_INFINITY): void {
    const { closed, demand, estimate, rates, isByChance } = this;
    if (closed.begin()) {
      rates.requests.delayUntil(demand.lastSentAt + 1 / rates.requests.perMs);
      // With a measured rate, a first rejection only delays the next attempt by an interval.
      if (estimate.isKnown) return;
    } else if (isByChance) return;
    closed.probe(now, endMs, this.log.horizonMs, this.intervalMs, demand.meanMs(now));
  }

  /** Whether rejections may be those of a cap: where some come by chance, no new cap is found. */
  private get mayBeCapped(): boolean {
    return this.cap.limit !== undefined || this.estimate.share === 0;
  }

  /** Called by the log: the attempt is known to be accepted. */
  accepted(sent: SentAttempt): void {
    const { reactions } = this;
    this.demand.accepted(sent.at);
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
    return Math.max(2 * this.mostUnknown, reported, this.hard.burst());
  }

  /** Called by the log: the results of this attempt and of all sent before it are known. */
  settled(sent: SentAttempt): void {
    this.settledCount = sent.order + 1;
    if (sent.isTrial) {
      this.estimate.tried(sent);
      return;
    }
    if (this.mayBeCapped) this.cap.settled(sent);
    // A rejection by a cap or a reported limit says nothing about the rate.
    if (this.cap.limit !== undefined || sent.isExplained || sent.outcome === 'withdrawn') return;
    const { closed, log, estimate } = this;
    if (estimate.settled(sent, closed.named.earliest, log.horizonMs)) this._measuredAt = sent.at;
  }
}
