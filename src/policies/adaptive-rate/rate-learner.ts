import type { ReportedLimit, Verdict } from '../../model/feedback.ts';
import { ConcurrencyCapDetector } from './concurrency-cap-detector.ts';
import { LimitSigns } from './limit-signs.ts';
import { NamedWait } from './named-wait.ts';
import type { Outlook } from './outlook.ts';
import { ProbeDelay } from './probe-delay.ts';
import { type EarlierAttempts, type HardLimits, RateEstimate } from './rate-estimate.ts';
import type { RateSnapshot } from './rate-snapshot.ts';
import { SendHistory, type SendHistoryListener } from './send-history.ts';
import { Sending } from './sending.ts';
import type { Reaction, SentAttempt } from './sent-attempt.ts';
import { shortestOf } from './shortest-limit.ts';
import { TokenRatio } from './token-ratio.ts';
import { START_AT_ONCE, Trust } from './trust.ts';
import { type RateOrigin, UnitRate } from './unit-rate.ts';

/** How long a computed rate is valid: it changes while requests wait. */
const REASK_MS = 1_000;
/** The shortest delay, which lets the present turn end. */
const TURN_MS = 1e-3;
/** How many consecutive rejected probes make an outage. */
const OUTAGE_PROBES = 3;

/** How many probes are sent when a named wait is over, however short it was. */
const NAMED_PROBES = 2;

/**
 * A gap as long as this, and as so many intervals of requests, is left out of measurements. Where
 * no pace tells which gaps are unused, the intervals alone decide.
 */
const LONG_GAP_MS = 1_000;
const LONG_GAP_INTERVALS = 4;

/** An attempt that may go after less than this part of a step goes by what was saved. */
const EARLY_PART = 0.99;

/**
 * Keeps a provider full without rejections. It learns the rate and the number of concurrent
 * requests that the provider accepts from configured limits, reported limits, and rejections. It is
 * pure: time is an argument, and everything is dated by the time of sending.
 *
 * It answers three separate questions. How much may be sent before more is verified: {@link Trust},
 * which bounds rejections whatever the estimate. How fast: {@link RateEstimate}. How many in flight:
 * {@link ConcurrencyCapDetector}.
 */
export class RateLearner implements SendHistoryListener {
  private readonly hard: HardLimits;
  private readonly log = new SendHistory(this);
  private readonly trust: Trust;
  private readonly signs = new LimitSigns();
  private readonly probes = new ProbeDelay();
  private readonly named: NamedWait;
  private readonly cap = new ConcurrencyCapDetector();
  private readonly estimate: RateEstimate;
  private readonly requests: UnitRate;
  private tokens: UnitRate | undefined = undefined;
  private readonly ratio = new TokenRatio();
  private inFlight = 0;
  private sent: number;
  private acceptedCount: number;
  private firstAt: number;
  private lastSentAt = Number.NEGATIVE_INFINITY;
  /** Before this, the next attempt goes by what was saved and not by the pace; -Infinity: nothing is. */
  private dueAt = Number.NEGATIVE_INFINITY;
  private hasRejected = false;
  private reaction: Reaction = { order: 0 };
  /** Attempts that are sent until then do not know of it yet. */
  private reactsUntil = Number.NEGATIVE_INFINITY;
  private readonly reactionMs: number;
  /** The highest order of attempts rejected since the last accepted one. */
  private isClosed = false;
  private rejectedOrder = -1;
  private probeAt = Number.NEGATIVE_INFINITY;
  private isPaced = false;
  private hasWaited = false;
  private _measuredAt: number | undefined = undefined;

  /**
   * @param past the attempts that were sent and accepted before the first rejection
   * @param maxRetryAfterMs no correction makes a named wait longer than this
   * @param startAtOnce how many attempts may be sent before anything is verified
   * @param reactionMs how long it takes until a reaction is in force, where others send
   */
  constructor(
    hard: HardLimits,
    past: EarlierAttempts = { accepted: 0, firstAt: 0 },
    maxRetryAfterMs = Number.POSITIVE_INFINITY,
    startAtOnce = START_AT_ONCE + past.accepted,
    reactionMs = 0,
  ) {
    this.reactionMs = reactionMs;
    this.hard = hard;
    this.named = new NamedWait(maxRetryAfterMs);
    this.trust = new Trust(startAtOnce);
    this.estimate = new RateEstimate(past, hard);
    this.sent = past.accepted;
    this.acceptedCount = past.accepted;
    this.firstAt = past.firstAt;
    this.requests = new UnitRate(() => hard.perMs('requests'));
    if (hard.perMs('tokens') !== Number.POSITIVE_INFINITY) this.tokens = this.tokenRate();
  }

  /** Begins with a rate, per ms, that was learned before. */
  begin(perMs: number, now: number): void {
    this.estimate.begin(perMs, now);
  }

  /** Whether the provider rejects everything, so that single probes are sent. */
  get isOut(): boolean {
    return this.isClosed && this.probes.count >= OUTAGE_PROBES;
  }

  /** The last computed rate, in requests per second. */
  get perSecond(): number {
    return this.requests.meanPerMs * 1_000;
  }

  /** Where that comes from. */
  get origin(): RateOrigin {
    return this.requests.origin;
  }

  /** The last measured rate, in requests per second; undefined if there is none. */
  get measuredPerSecond(): number | undefined {
    return this.estimate.isKnown ? this.estimate.measuredPerMs * 1_000 : undefined;
  }

  /** When the attempts behind it were sent; undefined if nothing was measured. */
  get measuredAt(): number | undefined {
    return this._measuredAt;
  }

  /** How many attempts may be in flight; undefined if no cap is known. */
  get limit(): number | undefined {
    return this.cap.limit;
  }

  /** When the wait that rejections have named is over; -Infinity: none is. */
  get namedUntil(): number {
    return this.named.until;
  }

  /** Whether tokens are limited. Otherwise they are not estimated. */
  get countsTokens(): boolean {
    return this.tokens !== undefined;
  }

  /**
   * Milliseconds until the next attempt may go, or until this must be asked again; Infinity if an
   * answer must come first.
   * @param estimate the estimated tokens of the attempt
   */
  wait(now: number, estimate = 0): number {
    const waitMs = this.waitMs(estimate, now);
    if (waitMs > 0) this.hasWaited = true;
    return waitMs;
  }

  private waitMs(estimate: number, now: number): number {
    this.log.advance(now);
    if (!this.trust.mayGo && this.log.unknown > 0) {
      return Math.max(TURN_MS, this.log.nextMs(now) + TURN_MS);
    }
    const { limit } = this.cap;
    if (limit !== undefined && this.inFlight >= limit) return Number.POSITIVE_INFINITY;
    const closedUntil = Math.max(this.named.until, this.probeAt);
    if (now < closedUntil) return closedUntil - now;
    const learned = limit === undefined ? this.estimate.pacePerMs : Number.POSITIVE_INFINITY;
    const { requests, tokens } = this;
    const requestsMs = requests.wait(learned, now);
    const tokensMs =
      tokens?.wait(Number.POSITIVE_INFINITY, now, this.ratio.expected(estimate)) ?? 0;
    if (requests.isPacing(now) || tokens?.isPacing(now)) this.isPaced = true;
    return Math.min(Math.max(requestsMs, tokensMs), REASK_MS);
  }

  /**
   * @param estimate the estimated tokens of the attempt
   * @param hasRoom whether more could be in flight, so that only the demand bounds what is sent
   */
  take(estimate: number, now: number, hasRoom = true): Sending {
    const { requests } = this;
    if (this.sent === 0) this.firstAt = now;
    const stepMs = 1 / requests.perMs;
    const gapMs = stepMs > 0 ? stepMs : LONG_GAP_INTERVALS * this.intervalMs;
    const isIdle = !this.hasWaited && now > requests.freeAt + gapMs;
    const idleMs = isIdle ? Math.max(0, now - Math.max(requests.freeAt, this.lastSentAt)) : 0;
    if (hasRoom && idleMs > 0) {
      requests.resumed(now);
      this.tokens?.resumed(now);
    }
    // Time spent waiting for other causes, such as the end of a closure, is not saved.
    const savedMs = this.isPaced
      ? requests.lateMs
      : this.hasWaited
        ? 0
        : this.estimate.saved * stepMs;
    const sending = new Sending(
      {
        at: now,
        order: this.sent,
        others: this.inFlight,
        pacePerMs: requests.perMs,
        isPaced: this.isPaced,
        isSaved: now < this.dueAt,
        idleMs: Number.isFinite(idleMs) ? idleMs : 0,
        tokens: this.tokens?.take(this.ratio.expected(estimate), now),
        requests: requests.take(1, now, savedMs),
      },
      estimate,
    );
    const isAhead = requests.freeAt < now + EARLY_PART * stepMs - requests.lateMs;
    this.dueAt = isAhead ? now + stepMs : Number.NEGATIVE_INFINITY;
    this.add(sending);
    return sending;
  }

  /** An attempt in flight that was sent before anything was learned. */
  early(at: number, estimate = 0): Sending {
    const requests = this.requests.take(1, at);
    const sending = new Sending(
      {
        at,
        order: this.sent,
        others: this.inFlight,
        pacePerMs: Number.POSITIVE_INFINITY,
        isPaced: false,
        isSaved: false,
        idleMs: 0,
        requests,
      },
      estimate,
    );
    if (this.sent === 0) this.firstAt = at;
    this.add(sending);
    return sending;
  }

  private add(sending: Sending): void {
    if (sending.at < this.reactsUntil) this.reaction.order = sending.order + 1;
    this.sent += 1;
    this.inFlight += 1;
    this.lastSentAt = sending.at;
    this.isPaced = false;
    this.hasWaited = false;
    this.trust.spend();
    this.log.add(sending);
  }

  /**
   * An attempt that was sent elsewhere.
   * @param isPaced whether it had to wait for the pace
   * @param hasWaited whether it had to wait at all
   */
  observed(estimate: number, at: number, isPaced: boolean, hasWaited: boolean): Sending {
    this.log.advance(at);
    this.setRates(at);
    this.isPaced = isPaced;
    this.hasWaited = hasWaited;
    return this.take(estimate, at);
  }

  /** What may be sent elsewhere from now on. */
  outlook(now: number): Outlook {
    const { log, trust, requests, tokens, estimate, ratio } = this;
    log.advance(now);
    this.setRates(now);
    const lone = log.unknown > 0 ? 0 : 1;
    const verified = trust.mayGo ? trust.size : lone;
    const cost = Math.max(1, ratio.expected(0));
    const left = Math.min(
      requests.left(now),
      (tokens?.left(now) ?? Number.POSITIVE_INFINITY) / cost,
    );
    const until = Math.max(this.named.until, this.probeAt);
    const heldMs = Math.max(requests.heldMs(now), tokens?.heldMs(now) ?? 0, until - now, 0);
    return {
      perMs: requests.perMs,
      // What requests cost is estimated elsewhere, and not corrected.
      tokensPerMs: (tokens?.perMs ?? Number.POSITIVE_INFINITY) / ratio.expected(1),
      origin: requests.origin,
      burst: this.isClosed || heldMs > 0 ? 0 : estimate.saved,
      budget: Math.min(verified, Math.floor(left)),
      closedMs: heldMs,
      limit: this.cap.limit,
      isOut: this.isOut,
      isWaiting: this.isClosed || log.unknown > 0,
    };
  }

  /** An attempt in flight that another learner has seen go. */
  resumed(at: number, estimate: number): Sending {
    const sending = this.early(at, estimate);
    // It was charged then.
    this.trust.giveBack();
    this.reaction.order = Math.max(this.reaction.order, sending.order + 1);
    return sending;
  }

  /** Nobody has learned for a while: the time since the last attempt tells nothing. */
  interrupted(now: number): void {
    const gapMs = now - this.lastSentAt;
    if (gapMs > Math.max(LONG_GAP_MS, LONG_GAP_INTERVALS * this.intervalMs)) {
      this.estimate.interrupted(this.lastSentAt, now);
    }
  }

  private setRates(now: number): void {
    const isCapped = this.cap.limit !== undefined;
    this.requests.wait(isCapped ? Number.POSITIVE_INFINITY : this.estimate.pacePerMs, now);
    this.tokens?.wait(Number.POSITIVE_INFINITY, now);
  }

  /** Makes room for what another one has learned: a measured rate has marks, which a new estimate has not. */
  prepare(now: number): void {
    this.estimate.begin(0, now);
  }

  /** Goes on from what another one has learned, as if what is in flight had been sent before the last reaction. */
  resume(now: number): void {
    this.reaction = { order: this.sent };
    this.reactsUntil = now + this.reactionMs;
  }

  /** Limits that were told before. */
  told(limits: readonly ReportedLimit[], at: number): void {
    const charge = { at, order: -1, total: 0, cost: 0, isOwed: false };
    this.read(limits, { requests: charge, tokens: charge }, true, at);
    if (this.tokens !== undefined)
      this.read(limits, { requests: charge, tokens: charge }, true, at);
  }

  /** The attempt was answered. @param used its tokens, if they are known */
  answered(sending: Sending, verdict: Verdict, used: number | undefined, now: number): void {
    this.inFlight -= 1;
    if (used !== undefined) this.settle(sending, used);
    this.signs.answered(verdict);
    this.read(verdict.limits ?? [], sending, true, now);
    this.log.accept(sending);
    // Silence shows no wait to be wrong.
    this.named.accepted(sending.at);
    this.log.advance(now);
  }

  /** The attempt ended without an answer, or was never sent, and is no evidence. */
  withdrawn(sending: Sending, isSent: boolean, now: number): void {
    this.inFlight -= 1;
    if (!isSent && sending.requests !== undefined) this.requests.reject(sending.requests, true);
    if (!isSent && sending.tokens !== undefined) this.tokens?.reject(sending.tokens, true);
    if (sending.outcome === 'unknown') this.trust.giveBack();
    this.log.withdraw(sending);
    this.log.advance(now);
  }

  /** The attempt was rejected, for its rate or because of an overload. */
  rejected(sending: Sending, verdict: Verdict, now: number): void {
    this.inFlight -= 1;
    this.hasRejected = true;
    const isLater = sending.order >= this.reaction.order;
    this.log.reject(sending, now);
    this.trust.lose(isLater);
    this.rejectedOrder = Math.max(this.rejectedOrder, sending.order);
    if (sending.requests !== undefined) this.requests.reject(sending.requests, false);
    if (sending.tokens !== undefined) this.tokens?.reject(sending.tokens, false);
    const { limits = [], retryAfterMs } = verdict;
    const isDated =
      retryAfterMs !== undefined || limits.some(({ resetMs }) => resetMs !== undefined);
    sending.isForeign = this.signs.isForeign(verdict);
    const { remaining = 1 } = shortestOf(limits, 'requests') ?? {};
    sending.usedUpPerMs = remaining < 1 ? this.requests.wholePerMs(now) : 0;
    sending.isExplained = this.read(limits, sending, false, now) && isDated;
    this.stop(sending, verdict, isLater, now);
    this.log.advance(now);
  }

  /** Others were rejected just now. While the provider is closed, that is part of the same closure. */
  hear(verdict: Verdict, now: number): void {
    const sending = this.isClosed ? this.resumed(now, 0) : this.observed(0, now, true, true);
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
      else if (!sending.isExplained) this.cap.stopped(others, sending.isBare);
      // Answers to attempts now in flight are old news when they come.
      this.reaction = { order: this.sent };
      this.reactsUntil = now + this.reactionMs;
    }
    sending.reaction = this.reaction;
    if (sending.isExplained && isLater) this.named.reset();
    else if (!isAtCap && isLater) this.close(now);
    if (retryAfterMs !== undefined && limit !== 'concurrency' && !isReset(verdict)) {
      this.named.named(retryAfterMs, sending.at, now, isLater);
      // It names a wait, unless named waits have proved wrong.
      if (this.probes.count <= NAMED_PROBES) this.probeAt = Number.NEGATIVE_INFINITY;
    }
  }

  private close(now: number): void {
    const { estimate, requests } = this;
    if (!this.isClosed) {
      this.isClosed = true;
      this.named.reset();
      this.probes.reset();
      this.probeAt = Number.NEGATIVE_INFINITY;
      requests.delayUntil(this.lastSentAt + 1 / requests.perMs);
      // One rejection among many accepted attempts concerns the pace.
      if (estimate.isKnown) return;
    }
    const { acceptedCount } = this;
    // Where nothing was ever accepted, nothing is known of a longer interval.
    const meanMs = acceptedCount === 0 ? 0 : (now - this.firstAt) / acceptedCount;
    this.probeAt = now + this.probes.next(this.log.horizonMs, this.intervalMs, meanMs);
  }

  /** The mean interval between accepted attempts; 0 if none was accepted. */
  private get intervalMs(): number {
    const { estimate, acceptedCount } = this;
    if (estimate.isKnown) return 1 / estimate.measuredPerMs;
    return acceptedCount === 0 ? 0 : (this.lastSentAt - this.firstAt) / acceptedCount;
  }

  /** Called by the log: the attempt is known to be accepted. */
  accepted(sent: SentAttempt): void {
    this.acceptedCount += 1;
    // What was in flight at a rejection was sent too fast, and sets no measure.
    const atOnce = sent.order < this.reaction.order ? 0 : sent.unknown;
    const out =
      Math.max(this.log.unknown, this.estimate.saved) +
      this.estimate.measuredPerMs * this.reactionMs;
    const most = Math.max(2 * atOnce, out + START_AT_ONCE);
    this.trust.earn(this.hasRejected ? most : Number.POSITIVE_INFINITY);
    this.cap.isAccepted(sent);
    if (!this.isClosed || sent.order <= this.rejectedOrder) return;
    this.isClosed = false;
    this.probes.reset();
    this.probeAt = Number.NEGATIVE_INFINITY;
  }

  /** Called by the log: the results of this attempt and of all sent before it are known. */
  settled(sent: SentAttempt): void {
    this.cap.settled(sent);
    // A rejection by a cap or a reported limit says nothing about the rate.
    if (this.cap.limit !== undefined || sent.isExplained || sent.outcome === 'withdrawn') return;
    const { named, log, estimate } = this;
    if (estimate.settled(sent, named.until, log.horizonMs)) this._measuredAt = sent.at;
  }

  snapshot(now: number): RateSnapshot {
    const { estimate, requests, tokens } = this;
    const learned = this.limit === undefined ? estimate.pacePerMs : Number.POSITIVE_INFINITY;
    requests.wait(learned, now);
    const { bounds } = estimate;
    return {
      perSecond: requests.meanPerMs * 1_000,
      origin: requests.origin,
      ceilingPerSecond: this.measuredPerSecond,
      leastPerSecond: bounds && bounds.least * 1_000,
      mostPerSecond: bounds && bounds.most * 1_000,
      evidence: estimate.isKnown ? estimate.restsOn : undefined,
      burst: Math.floor(estimate.saved),
      cap: this.limit,
      tokens: tokens && { perSecond: tokens.meanPerMs * 1_000, origin: tokens.origin },
      isOut: this.isOut,
      sinceCutMs: this._measuredAt === undefined ? undefined : now - this._measuredAt,
    };
  }

  private settle(sending: Sending, used: number): void {
    this.ratio.measured(sending.estimate, used);
    if (sending.tokens !== undefined) this.tokens?.settle(sending.tokens, used);
  }

  /** @returns whether the reported limits explain a rejection */
  private read(
    limits: readonly ReportedLimit[],
    { requests, tokens }: Pick<Sending, 'requests' | 'tokens'>,
    isAccepted: boolean,
    now: number,
  ): boolean {
    if (limits.length === 0) return false;
    let isExplained = false;
    const ofRequests = shortestOf(limits, 'requests');
    if (ofRequests !== undefined && requests !== undefined) {
      isExplained = this.requests.report(ofRequests, requests, isAccepted, now);
    }
    const ofTokens = shortestOf(limits, 'tokens');
    if (ofTokens === undefined) return isExplained;
    this.tokens ??= this.tokenRate();
    if (tokens === undefined) return isExplained;
    return this.tokens.report(ofTokens, tokens, isAccepted, now) || isExplained;
  }

  private tokenRate(): UnitRate {
    return new UnitRate(() => this.hard.perMs('tokens'));
  }
}

/**
 * Whether the wait is only the reset of a used-up limit, and no Retry-After: a bucket or a sliding
 * window lets requests in long before it is whole again. What the limit reports holds them back
 * instead. (On 79 generated providers with such headers, 7.0 +- 1.8 points more of the rate are used.)
 */
function isReset({ retryAfterMs, limits = [], headers }: Verdict): boolean {
  const isSame = ({ remaining, resetMs }: ReportedLimit) =>
    remaining === 0 && resetMs === retryAfterMs;
  // Reports of other workers bring no headers.
  if (headers === undefined || headers['retry-after'] !== undefined) return false;
  return limits.some(isSame);
}
