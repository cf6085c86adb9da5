import { Closure } from '../attempts/closure.ts';
import type { EarlierAttempts } from '../attempts/first-attempts.ts';
import type { SentAttempt } from '../attempts/sent-attempt.ts';
import { RejectionsByChance } from '../random-rejections/rejections-by-chance.ts';
import type { ShareTrial } from '../random-rejections/share-trial.ts';
import type { HardLimits } from '../units/hard-limits.ts';
import type { RateBounds } from './congestion-samples.ts';
import { cycleOf } from './cycle.ts';
import { FirstStop } from './first-stop.ts';
import { MeasuredRate } from './measured-rate.ts';
import { OpenTime } from './open-time.ts';
import { type RateDoubt, RateProbing } from './rate-probing.ts';
import { SavedBurst } from './saved-burst.ts';

/** A process that got less of a used-up limit than this has no share of it yet. */
const LEAST_OWN = 8;

/**
 * The rate that the provider accepts, learned from accepted and rejected attempts in the order of
 * sending. After each closure the rate is measured anew. Then more is tried: faster if the
 * measurement has little evidence, and faster still the longer nothing is rejected.
 */
export class RateEstimate {
  private readonly hard: HardLimits;
  private readonly rate = new MeasuredRate();
  private readonly probing = new RateProbing();
  private closure: Closure | undefined = undefined;
  private readonly byChance: RejectionsByChance;
  private readonly first: FirstStop;
  private readonly open: OpenTime;
  /** The attempts accepted between the last time without demand and the first closure. */
  private mostAtOnce = 0;
  private readonly burst = new SavedBurst();

  /** @param isForAll whether it is the rate of all processes that use the provider */
  constructor(
    { accepted, firstAt, idleMs = 0, beforeIdle = 0 }: EarlierAttempts,
    hard: HardLimits,
    isForAll = false,
  ) {
    this.hard = hard;
    this.byChance = new RejectionsByChance(!isForAll);
    this.open = new OpenTime(accepted, idleMs, beforeIdle);
    this.first = new FirstStop(accepted > 0 ? firstAt : undefined);
  }

  /** Begins with a rate that was measured before, for example in another process. */
  begin(perMs: number, now: number): void {
    this.rate.begin(perMs, now, this.probing);
    this.open.startedAt = now;
    this.probing.start(perMs, now, 0);
  }

  /** Nothing is known about the time from `from` to `to`: the provider may have saved capacity. */
  interrupted(from: number, to: number): void {
    if (!this.isKnown) return;
    this.rate.interrupted(from, to);
    this.closure = undefined;
    this.open.restart(to);
  }

  /**
   * The limit has changed by a factor: so has the rate, up to the configured limit at most.
   * Otherwise a raise that headers tell and the user configures would count twice. Before anything
   * was measured, that changes nothing.
   */
  scale(factor: number): void {
    if (factor === 1 || !this.isKnown) return;
    const most = Math.max(1, this.hard.perMs('requests') / this.measuredPerMs);
    const scaled = Math.min(factor, most);
    this.rate.scale(scaled);
    this.probing.scale(scaled);
    this.open.accepted *= scaled;
  }

  /** Whether anything was measured. */
  get isKnown(): boolean {
    return this.rate.isKnown;
  }

  /** The measured rate, per ms; 0 if there is none. */
  get measuredPerMs(): number {
    return this.rate.perMs;
  }

  /** The number of accepted attempts behind the measured rate. */
  get restsOn(): number {
    return this.rate.evidence;
  }

  get bounds(): RateBounds | undefined {
    return this.rate.bounds;
  }

  /** The share of attempts that is rejected whatever the rate; 0 if none is known. */
  get share(): number {
    return this.byChance.share;
  }

  /** How many attempts may be sent at once after a time without demand. */
  get saved(): number {
    return this.burst.size;
  }

  /** The pace to send at, per ms; Infinity if nothing was measured. */
  get pacePerMs(): number {
    if (!this.isKnown) return Number.POSITIVE_INFINITY;
    const mostPerMs = this.byChance.mostPerMs(this.rate.perMs);
    return Math.min(mostPerMs, this.probing.paceOf(this.sentPerMs));
  }

  /**
   * The pace after a rejection, until the rate is measured anew, per ms: the rate that was accepted
   * since the last closure, or the measured rate if that is higher.
   */
  get reactionPerMs(): number {
    const { pacePerMs } = this;
    if (!this.isKnown) return pacePerMs;
    return Math.min(pacePerMs, Math.max(this.sentPerMs, this.open.meanPerMs));
  }

  /**
   * The rate to send. It includes attempts that are rejected whatever the rate: these use nothing
   * of the limit.
   */
  private get sentPerMs(): number {
    return this.rate.perMs / (1 - this.byChance.share);
  }

  /**
   * Records an attempt when its result, and those of all attempts sent before, are known.
   * @param horizonMs the time within which rejections return
   * @param namedUntil the earliest end of the wait that the provider named; -Infinity if it named
   * none
   * @returns whether the rate was measured anew
   */
  settled(sent: SentAttempt, namedUntil: number, horizonMs: number): boolean {
    const { perMs } = this.rate;
    this.first.sent(sent.at);
    const earlierPerMs = this.byChance.settled(sent, perMs);
    if (earlierPerMs !== undefined) this.restore(earlierPerMs, sent.at, sent.order);
    this.open.settled(sent, this.burst.refillMs(sent, perMs));
    this.burst.settled(sent, perMs);
    if (sent.outcome === 'rejected') {
      this.reject(sent);
      return false;
    }
    const { closure } = this;
    closure?.accept(sent);
    const hasReopened = closure?.isBefore(sent) === true;
    const isByChance = hasReopened && this.isByChance(closure, sent);
    if (isByChance) this.closure = undefined;
    else if (hasReopened) this.reopened(closure, sent, namedUntil);
    this.open.accepted += 1;
    if (!this.isKnown) this.first.accepted(this.open.accepted, sent.at);
    this.probing.accepted(sent, horizonMs, this.doubt);
    this.outgrow(sent.at);
    return hasReopened && !isByChance;
  }

  /** Raises the rate if more was accepted since the last closure than it explains. */
  private outgrow(at: number): void {
    const { rate } = this;
    if (!this.isKnown || this.closure !== undefined) return;
    const { perMs, bounds } = rate;
    const outgrown = this.open.outgrown(perMs, bounds, at);
    if (outgrown === undefined) return;
    if (outgrown.isDisproved) this.probing.hasten();
    // A rate to begin with was not measured here: from it, the excess alone grows sooner.
    if (bounds === undefined && rate.isSure) return;
    this.probing.raised(perMs, outgrown.perMs);
    rate.perMs = outgrown.perMs;
  }

  /** Why the measured rate may be wrong. */
  private get doubt(): RateDoubt | undefined {
    if (this.byChance.share > 0) return 'hidden';
    return this.rate.hasFallenFar ? 'fallen' : undefined;
  }

  private isByChance(closure: Closure, { at, order }: SentAttempt): boolean {
    const { byChance } = this;
    if (closure.isBySaved || closure.usedUpPerMs > 0 || !this.isKnown) return false;
    if (closure.pacePerMs === Number.POSITIVE_INFINITY) return false;
    const before = byChance.share;
    if (!byChance.explain(closure)) return false;
    if (byChance.share > before) this.restore(byChance.rateBefore(closure), at, order);
    return true;
  }

  /** Tries a rate, per ms, that was accepted before rejections by chance lowered it. */
  private restore(perMs: number, at: number, order: number): void {
    this.rate.perMs = Math.max(this.rate.perMs, perMs * (1 - this.byChance.share));
    this.probing.start(this.sentPerMs, at, order);
  }

  get trial(): ShareTrial {
    return this.byChance.trial;
  }

  /** An attempt of a trial has ended. */
  tried(sent: SentAttempt): void {
    const perMs = this.byChance.tried(sent);
    if (perMs !== undefined) this.restore(perMs, sent.at, sent.order);
  }

  private reject(sent: SentAttempt): void {
    if (this.closure === undefined) {
      this.closure = new Closure(sent);
      if (this.closure.isBySaved) this.burst.isTooMuch();
    }
    this.closure.add(sent, this.open);
  }

  private reopened(closure: Closure, sent: SentAttempt, lastNamedUntil: number): void {
    const { rate, open } = this;
    // The next closure may have begun and named a later end.
    const namedUntil = Math.min(closure.namedUntil, lastNamedUntil);
    this.closure = undefined;
    if (closure.isBySaved) this.burst.end();
    // A rejection may return late: an attempt accepted meanwhile shows that the provider was open.
    const to = closure.reopenedAt ?? sent.at;
    // Others have used up the limit: that shows nothing about the rate of a process that begins.
    const isByOthers = closure.usedUpPerMs > 0 && closure.accepted < LEAST_OWN;
    if (isByOthers && !(rate.isKnown && rate.isSure)) return;
    if (!rate.isKnown && this.first.isSkipped(closure, to, namedUntil)) return;
    // If the provider named the end of the closure, it was closed until then.
    const from = Math.min(to, Math.max(closure.lastAt, namedUntil));
    if (!rate.isKnown) this.firstMeasure(closure, from, to);
    else if (closure.isBySaved) rate.restart(from, to);
    else this.measure(closure, from, to);
    open.reopened(closure, from, to);
    const closedMs = to - closure.startedAt - closure.lateMs;
    const unearned = Math.min(this.mostAtOnce, rate.perMs * closedMs);
    this.probing.stopped({
      usedUpPerMs: closure.usedUpPerMs,
      pacePerMs: closure.pacePerMs,
      perMs: rate.perMs,
      isSure: rate.isSure,
      closedMs,
      unknownMs: to - from,
    });
    this.probing.start(this.sentPerMs, to, sent.order, unearned, closedMs);
  }

  /** The first closure: the attempts accepted until then are at most a window's limit. */
  private firstMeasure({ accepted, idleMs, lateMs }: Closure, from: number, to: number): void {
    const endMs = to - lateMs;
    const first = this.first.measure(accepted, idleMs, Math.min(from, endMs), endMs);
    const { perMs, sinceMs, excess, doubling } = first;
    this.open.cycled(sinceMs);
    const hardPerMs = this.hard.perMs('requests');
    // A single closure does not disprove a configured limit.
    const leastPerMs = hardPerMs === Number.POSITIVE_INFINITY ? 0 : hardPerMs;
    this.rate.first(Math.max(perMs, leastPerMs), accepted, from, to);
    this.probing.plan(excess, doubling);
    this.mostAtOnce = Math.max(1, accepted - this.open.beforeIdle);
    this.burst.begin(this.mostAtOnce, this.hard.burst());
  }

  private measure(closure: Closure, from: number, to: number): void {
    const { rate, open } = this;
    const cycle = cycleOf(closure, open, rate.perMs, this.byChance.share, from, to);
    if (rate.measure(cycle, this.probing)) open.cycled(cycle.ms);
  }
}
