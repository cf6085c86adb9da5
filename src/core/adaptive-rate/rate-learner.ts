import type { ReportedLimit, Verdict } from '../../model/feedback.ts';
import { ConcurrencyCapDetector } from './concurrency-cap-detector.ts';
import { LimitSigns } from './limit-signs.ts';
import { NamedWait } from './named-wait.ts';
import { ProbeDelay } from './probe-delay.ts';
import { type Past, RateEstimate } from './rate-estimate.ts';
import type { RateSnapshot } from './rate-snapshot.ts';
import { SendHistory, type SendHistoryListener } from './send-history.ts';
import { Sending } from './sending.ts';
import type { SentAttempt } from './sent-attempt.ts';
import { shortestOf } from './shortest-limit.ts';
import { TokenRatio } from './token-ratio.ts';
import { START_AT_ONCE, Trust } from './trust.ts';
import { type RateOrigin, UnitRate } from './unit-rate.ts';

/** A rate is good for so long without being asked again: it changes while requests wait. */
const REASK_MS = 1_000;
/** The shortest time that lets a turn end. */
const TURN_MS = 1e-3;
/** So many probes in a row were rejected where a provider counts as out. */
const OUTAGE_PROBES = 3;

/** So many probes go when a wait that was named is over, however short it was. */
const NAMED_PROBES = 2;

/** The rates of limits that were configured, per ms; Infinity: there is none. */
export type HardRates = (unit: 'requests' | 'tokens') => number;

/**
 * Keeps a provider full without rejections: learns how fast, and how many at once, it accepts, from
 * the limits that were configured, those that answers report, and what it rejects. Pure: it is given
 * the time, and dates everything by when it was sent.
 *
 * Three questions are kept apart. How much may be sent before more is verified: {@link Trust}, which
 * bounds rejections whatever is believed. How fast: {@link RateEstimate}. How many in flight:
 * {@link ConcurrencyCapDetector}.
 */
export class RateLearner implements SendHistoryListener {
  private readonly hard: HardRates;
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
  private hasRejected = false;
  /** Attempts of a lower order were out at the last reaction. */
  private reactedAt = 0;
  /** Rejected since anything was let in; the highest order of these. */
  private isClosed = false;
  private rejectedOrder = -1;
  private probeAt = Number.NEGATIVE_INFINITY;
  private isPaced = false;
  private hasWaited = false;
  private _measuredAt: number | undefined = undefined;

  /**
   * @param past what was sent, and accepted, before anything was rejected
   * @param maxRetryAfterMs the longest wait of a rejection that is obeyed, also where it is corrected
   */
  constructor(
    hard: HardRates,
    past: Past = { accepted: 0, firstAt: 0 },
    maxRetryAfterMs = Number.POSITIVE_INFINITY,
  ) {
    this.hard = hard;
    this.named = new NamedWait(maxRetryAfterMs);
    this.trust = new Trust(START_AT_ONCE + past.accepted);
    this.estimate = new RateEstimate(past, () => hard('requests'));
    this.sent = past.accepted;
    this.acceptedCount = past.accepted;
    this.firstAt = past.firstAt;
    this.requests = new UnitRate(() => hard('requests'));
    if (hard('tokens') !== Number.POSITIVE_INFINITY) this.tokens = this.tokenRate();
  }

  /** Begins with a rate, per ms, that was learned before. */
  begin(perMs: number, now: number): void {
    this.estimate.begin(perMs, now);
  }

  /** Whether the provider lets nothing in, and single probes go. */
  get isOut(): boolean {
    return this.isClosed && this.probes.count >= OUTAGE_PROBES;
  }

  /** Requests a second, as of the last time that it was asked for. */
  get perSecond(): number {
    return this.requests.meanPerMs * 1_000;
  }

  /** Where that comes from. */
  get origin(): RateOrigin {
    return this.requests.origin;
  }

  /** What was measured last, requests a second; undefined: nothing was. */
  get measuredPerSecond(): number | undefined {
    return this.estimate.isKnown ? this.estimate.measuredPerMs * 1_000 : undefined;
  }

  /** When what tells of that was sent; undefined: nothing was measured. */
  get measuredAt(): number | undefined {
    return this._measuredAt;
  }

  /** Attempts that may be in flight; undefined: no cap is known. */
  get limit(): number | undefined {
    return this.cap.limit;
  }

  /** Whether tokens count: else nobody need estimate them. */
  get countsTokens(): boolean {
    return this.tokens !== undefined;
  }

  /**
   * Milliseconds until the next attempt may go, or this is to be asked again; Infinity: an answer must come.
   * @param estimate tokens that it may cost
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

  /** @param estimate tokens that it may cost */
  take(estimate: number, now: number): Sending {
    const { requests } = this;
    if (this.sent === 0) this.firstAt = now;
    const stepMs = 1 / requests.perMs;
    const isIdle = !this.hasWaited && now > requests.freeAt + stepMs;
    const idleMs = isIdle ? Math.max(0, now - Math.max(requests.freeAt, this.lastSentAt)) : 0;
    // What a request waited for otherwise, as for the end of a closure, is not saved.
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
        isSaved: !this.hasWaited,
        idleMs: Number.isFinite(idleMs) ? idleMs : 0,
        tokens: this.tokens?.take(this.ratio.expected(estimate), now),
        requests: requests.take(1, now, savedMs),
      },
      estimate,
    );
    this.add(sending);
    return sending;
  }

  /** An attempt that was sent before anything was learned, and is out. */
  early(at: number): Sending {
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
      0,
    );
    if (this.sent === 0) this.firstAt = at;
    this.add(sending);
    return sending;
  }

  private add(sending: Sending): void {
    this.sent += 1;
    this.inFlight += 1;
    this.lastSentAt = sending.at;
    this.isPaced = false;
    this.hasWaited = false;
    this.trust.spend();
    this.log.add(sending);
  }

  /** It was answered. @param used tokens, as far as that is known */
  answered(sending: Sending, verdict: Verdict, used: number | undefined, now: number): void {
    this.inFlight -= 1;
    if (used !== undefined) this.settle(sending, used);
    this.signs.answered(verdict);
    this.read(verdict.limits ?? [], sending, true, now);
    this.log.accept(sending);
    this.log.advance(now);
  }

  /** It ended without an answer, or was never sent: it tells nothing. */
  withdrawn(sending: Sending, isSent: boolean, now: number): void {
    this.inFlight -= 1;
    if (!isSent && sending.requests !== undefined) this.requests.reject(sending.requests, true);
    if (!isSent && sending.tokens !== undefined) this.tokens?.reject(sending.tokens, true);
    if (sending.outcome === 'unknown') this.trust.giveBack();
    this.log.withdraw(sending);
    this.log.advance(now);
  }

  /** It was turned away, as too much or for want of power. */
  rejected(sending: Sending, verdict: Verdict, now: number): void {
    this.inFlight -= 1;
    this.hasRejected = true;
    const isLater = sending.order >= this.reactedAt;
    this.log.reject(sending, now);
    this.trust.lose(isLater);
    this.rejectedOrder = Math.max(this.rejectedOrder, sending.order);
    if (sending.requests !== undefined) this.requests.reject(sending.requests, false);
    if (sending.tokens !== undefined) this.tokens?.reject(sending.tokens, false);
    const { limits = [], retryAfterMs } = verdict;
    const isDated =
      retryAfterMs !== undefined || limits.some(({ resetMs }) => resetMs !== undefined);
    sending.isForeign = this.signs.isForeign(verdict);
    sending.isExplained = this.read(limits, sending, false, now) && isDated;
    this.stop(sending, verdict, isLater, now);
    this.log.advance(now);
  }

  private stop(sending: Sending, verdict: Verdict, isLater: boolean, now: number): void {
    const { retryAfterMs, limits, limit } = verdict;
    const isToldCap = limit === 'concurrency' && sending.others > 0;
    const isAtCap = isToldCap || this.cap.explains(sending.others);
    if (isLater) {
      const isBare = retryAfterMs === undefined && limits === undefined && limit === undefined;
      if (limit === 'concurrency') this.cap.told(Math.max(1, sending.others));
      else if (!sending.isExplained) this.cap.stopped(sending, isBare && !this.signs.isTold);
      // What is out now is old news when its answers come.
      this.reactedAt = this.sent;
    }
    sending.reactedAt = this.reactedAt;
    if (sending.isExplained && isLater) this.named.reset();
    else if (!isAtCap && isLater) this.close(now);
    if (retryAfterMs !== undefined && limit !== 'concurrency') {
      this.named.named(retryAfterMs, sending.at, now, isLater);
      // It says when to come again, unless that has proved wrong.
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
      // One rejection of many that are accepted is a matter of pace.
      if (estimate.isKnown) return;
    }
    this.probeAt = now + this.probes.next(this.log.horizonMs, this.intervalMs);
  }

  /** Between what was accepted, on average; 0 where nothing was: that it was long tells nothing. */
  private get intervalMs(): number {
    const { estimate, acceptedCount } = this;
    if (estimate.isKnown) return 1 / estimate.measuredPerMs;
    return acceptedCount === 0 ? 0 : (this.lastSentAt - this.firstAt) / acceptedCount;
  }

  /** Told by the log: it is known to be accepted. */
  accepted(sent: SentAttempt): void {
    this.acceptedCount += 1;
    const out = Math.max(this.log.unknown, this.estimate.saved);
    this.trust.earn(this.hasRejected ? out + START_AT_ONCE : Number.POSITIVE_INFINITY);
    this.cap.isAccepted(sent);
    this.named.accepted(sent.at);
    if (!this.isClosed || sent.order <= this.rejectedOrder) return;
    this.isClosed = false;
    this.probes.reset();
    this.probeAt = Number.NEGATIVE_INFINITY;
  }

  /** Told by the log: it, and all sent before it, are known. */
  settled(sent: SentAttempt): void {
    // What a cap or a told limit turns away says nothing of a rate.
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

  /** @returns whether what is told explains a rejection */
  private read(
    limits: readonly ReportedLimit[],
    { requests, tokens }: Sending,
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
    return new UnitRate(() => this.hard('tokens'));
  }
}
