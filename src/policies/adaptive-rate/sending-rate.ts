import type { Verdict } from '../../model/feedback.ts';
import { Demand } from './attempts/demand.ts';
import type { EarlierAttempts } from './attempts/first-attempts.ts';
import { SentAttempt } from './attempts/sent-attempt.ts';
import { LimitChange, RaisedLimit } from './limit-change.ts';
import { RateEstimate } from './measured/rate-estimate.ts';
import type { RateSnapshot } from './rate-snapshot.ts';
import type { ClosedTime } from './reopening/closed-time.ts';
import type { HardLimits } from './units/hard-limits.ts';
import { shortestOf } from './units/shortest-limit.ts';
import type { RateOrigin } from './units/unit-rate.ts';
import { UnitRates } from './units/unit-rates.ts';

/** How long a computed rate is valid, in ms: it changes while requests wait. */
export const REASK_MS = 1_000;
/**
 * If rejections take longer than this number of intervals, a reaction lowers the pace before the rate
 * is measured anew: as many attempts would be sent too fast until then.
 */
const SLOW_REJECTIONS = 3;

/**
 * How fast attempts are sent: at the lowest of the rates that are configured, reported, and
 * measured by rejections. It records with each attempt in which circumstances it was sent.
 */
export class SendingRate {
  readonly demand: Demand;
  readonly estimate: RateEstimate;
  readonly units: UnitRates;
  /** When the last measured attempt was sent; undefined if nothing was measured. */
  measuredAt: number | undefined = undefined;
  private readonly hard: HardLimits;
  private readonly change = new LimitChange();
  private readonly raised: RaisedLimit;

  /** @param isForAll whether it is the rate of all processes that use the provider */
  constructor(hard: HardLimits, past: EarlierAttempts, isForAll: boolean) {
    this.hard = hard;
    this.demand = new Demand(past);
    this.estimate = new RateEstimate(past, hard, isForAll);
    // Workers of a fleet report the tokens of their requests as one number.
    this.units = new UnitRates(hard, !isForAll);
    this.raised = new RaisedLimit(hard.perMs('requests'));
  }

  /** The last computed rate, in requests per second. */
  get perSecond(): number {
    return this.units.requests.meanPerMs * 1_000;
  }

  /** The source of the last computed rate. */
  get origin(): RateOrigin {
    return this.units.requests.origin;
  }

  /** The last measured rate, in requests per second; undefined if there is none. */
  get measuredPerSecond(): number | undefined {
    const { estimate } = this;
    return estimate.isKnown ? estimate.measuredPerMs * 1_000 : undefined;
  }

  /** The mean interval between accepted attempts; 0 if none was accepted. */
  get intervalMs(): number {
    const { demand, estimate } = this;
    return estimate.isKnown ? 1 / estimate.measuredPerMs : demand.intervalMs;
  }

  /**
   * The rate learned from rejections; Infinity if there is none.
   * @param reactsMs how long rejections take, if one came back, but not yet the results by which the
   * rate is measured; else 0
   */
  learnedPerMs(reactsMs: number): number {
    const { estimate } = this;
    const isReacting = reactsMs > SLOW_REJECTIONS * this.intervalMs;
    return estimate.trial.paceOf(isReacting ? estimate.reactionPerMs : estimate.pacePerMs);
  }

  /**
   * Milliseconds until the next attempt may be sent, or until the rate must be computed again.
   * @param learnedPerMs the rate learned from rejections; Infinity if there is none
   * @param tokens the estimated tokens of the attempt
   */
  wait(learnedPerMs: number, tokens: number, now: number): number {
    const { demand, units } = this;
    const waitMs = units.wait(learnedPerMs, tokens, now);
    if (units.isPacing(now)) demand.isPaced = true;
    return Math.min(waitMs, REASK_MS);
  }

  /**
   * An attempt is sent now.
   * @param others how many are in flight
   * @param hasRoom whether more could be, so that only the demand bounds what is sent
   */
  take(
    tokens: number,
    now: number,
    others: number,
    hasRoom: boolean,
    closed: ClosedTime,
  ): SentAttempt {
    const { demand, intervalMs, units } = this;
    const { requests } = units;
    demand.endWait(intervalMs, now);
    const { isPaced } = demand;
    const pacePerMs = requests.perMs;
    const stepMs = 1 / pacePerMs;
    const lateMs = closed.lateMs(requests.freeAt, now);
    // While the provider is closed, `lateMs` says how long nothing was asked.
    const idleMs = closed.isClosed ? 0 : demand.idleMs(requests.freeAt, stepMs, intervalMs, now);
    const isIdle = hasRoom && idleMs > 0;
    // If a named wait held requests back, there may have been demand.
    if (isIdle && closed.named.until <= demand.lastSentAt) units.resumed(now);
    const savedMs = isPaced ? requests.lateMs : demand.usableMs(this.estimate.saved * stepMs);
    const charges = units.take(tokens, now, savedMs);
    const sent = new SentAttempt({
      at: now,
      order: demand.count,
      others,
      pacePerMs,
      isPaced,
      isSaved: demand.isEarly(now),
      idleMs,
      lateMs,
      estimate: tokens,
      charges,
    });
    sent.lacksDemand = isIdle;
    const { trial } = this.estimate;
    if (trial.isSending) {
      sent.isTrial = true;
      trial.sent();
    }
    demand.add(now);
    demand.saves(requests.freeAt + requests.lateMs, stepMs, now);
    return sent;
  }

  /** An attempt was sent before anything was learned. @param others how many were in flight */
  early(at: number, others: number): SentAttempt {
    const sent = new SentAttempt({
      at,
      order: this.demand.count,
      others,
      pacePerMs: Number.POSITIVE_INFINITY,
      isPaced: false,
      isSaved: false,
      idleMs: 0,
      charges: [this.units.requests.take(1, at)],
    });
    this.demand.add(at);
    return sent;
  }

  /** Delays the next attempt by an interval after the last. */
  delay(): void {
    const { requests } = this.units;
    requests.delayUntil(this.demand.lastSentAt + 1 / requests.perMs);
  }

  /** An accepted attempt reports these limits, or none. */
  report(sent: SentAttempt, limits: Verdict['limits'] = [], now: number): void {
    const { estimate, units } = this;
    units.report(limits, sent.charges, true, now);
    estimate.scale(this.raised.follow(this.hard.perMs('requests')));
    const limit = shortestOf(limits, 'requests');
    if (limit !== undefined) estimate.scale(this.change.report(limit, estimate.measuredPerMs));
  }

  /**
   * Notes with a rejected attempt what the limits say that its rejection reports.
   * @returns how long a used-up limit stays closed, as reported; undefined if that is not known
   */
  explain(sent: SentAttempt, verdict: Verdict, now: number): number | undefined {
    const { limits = [], retryAfterMs } = verdict;
    const { remaining = 1, resetMs } = shortestOf(limits, 'requests') ?? {};
    sent.usedUpPerMs = remaining < 1 ? this.units.requests.reported.wholePerMs(now) : 0;
    const isDated =
      retryAfterMs !== undefined || limits.some(({ resetMs }) => resetMs !== undefined);
    sent.isExplained = this.units.report(limits, sent.charges, false, now) && isDated;
    return remaining < 1 ? resetMs : undefined;
  }

  /** The results of the attempt, which a rate explains, and of all sent before it are known. */
  settled(sent: SentAttempt, namedUntil: number, horizonMs: number): void {
    if (this.estimate.settled(sent, namedUntil, horizonMs)) this.measuredAt = sent.at;
  }

  /** @param learnedPerMs as for `wait` */
  snapshot(learnedPerMs: number, now: number): Omit<RateSnapshot, 'cap' | 'isOut'> {
    const { measuredAt, estimate } = this;
    const { requests, tokens } = this.units;
    // Limits may have changed since the last request.
    requests.wait(learnedPerMs, now);
    tokens?.wait(Number.POSITIVE_INFINITY, now);
    const { bounds } = estimate;
    return {
      perSecond: this.perSecond,
      origin: this.origin,
      ceilingPerSecond: this.measuredPerSecond,
      leastPerSecond: bounds && bounds.least * 1_000,
      mostPerSecond: bounds && bounds.most * 1_000,
      evidence: estimate.isKnown ? estimate.restsOn : undefined,
      rejectedByChance: estimate.share,
      burst: Math.floor(estimate.saved),
      tokens: tokens && { perSecond: tokens.meanPerMs * 1_000, origin: tokens.origin },
      sinceCutMs: measuredAt === undefined ? undefined : now - measuredAt,
    };
  }
}
