import { Closure } from './closure.ts';
import { CongestionSamples, type RateBounds } from './congestion-samples.ts';
import { CLOSED_PART, FirstStop, IDLE_PART } from './first-stop.ts';
import { nextRate } from './next-rate.ts';
import { OpenTime } from './open-time.ts';
import { LEAST_DOUBLING, RateProbing } from './rate-probing.ts';
import { RejectionsByChance } from './rejections-by-chance.ts';
import { SavedBurst } from './saved-burst.ts';
import type { SentAttempt } from './sent-attempt.ts';
import type { ShareTrial } from './share-trial.ts';
import type { HardLimits } from './unit-rates.ts';
import { UnsavedLimit } from './unsaved-limit.ts';

/** The pace has grown in a cycle if its last pace exceeds the mean accepted rate by this factor. */
const GREW = 1.15;
/**
 * A rate with this much evidence is sure. A closure that would change it may be an outage if it is
 * longer than this number of intervals.
 */
const SURE_EVIDENCE = 20;
const OUTAGE_INTERVALS = 4;
/** A closure is an outage only if it would lower a sure rate below this share. */
const OUTAGE_PART = 0.5;
/** A rate that a long closure lowers below this share is uncertain. */
const FELL = 0.9;
/** A process that got less of a used-up limit than this has no share of it yet. */
const LEAST_OWN = 8;
/** The most evidence that is kept after an outage or an interruption. */
const EVIDENCE_AFTER = 50;
/** The attempts that were sent and accepted before the first rejection. */
export interface EarlierAttempts {
  readonly accepted: number;
  /** When the first of them was sent; unused if none was accepted. */
  readonly firstAt: number;
  /**
   * The time without demand among them, in ms, and the number of attempts sent before the last such
   * time.
   */
  readonly idleMs?: number;
  readonly beforeIdle?: number;
}

/**
 * The rate that the provider accepts, learned from accepted and rejected attempts in the order of
 * sending. After each closure the rate is measured anew. Then more is tried: faster if the
 * measurement has little evidence, and faster still the longer nothing is rejected.
 */
export class RateEstimate {
  private readonly hard: HardLimits;
  private marks: CongestionSamples | undefined = undefined;
  private perMs = 0;
  private evidence = 1;
  private readonly probing = new RateProbing();
  private closure: Closure | undefined = undefined;
  private readonly byChance: RejectionsByChance;
  private readonly unsaved = new UnsavedLimit();
  private readonly first: FirstStop;
  private readonly open: OpenTime;
  /**
   * Whether a few attempts, accepted by chance, only interrupted the last closure. That counts only
   * once in a row.
   */
  private wasStray = false;
  /** Whether the last closure was an outage. */
  private wasOutage = false;
  /** The attempts accepted between the last time without demand and the first closure. */
  private mostAtOnce = 0;
  private readonly burst = new SavedBurst();
  private _bounds: RateBounds | undefined = undefined;
  private readonly isForAll: boolean;

  /** @param isForAll whether it is the rate of all processes that use the provider */
  constructor(
    { accepted, firstAt, idleMs = 0, beforeIdle = 0 }: EarlierAttempts,
    hard: HardLimits,
    isForAll = false,
  ) {
    this.hard = hard;
    this.byChance = new RejectionsByChance(!isForAll);
    this.isForAll = isForAll;
    this.open = new OpenTime(accepted, idleMs, beforeIdle);
    this.first = new FirstStop(accepted > 0 ? firstAt : undefined);
  }

  /** Begins with a rate that was measured before, for example in another process. */
  begin(perMs: number, now: number): void {
    this.perMs = perMs;
    this.evidence = SURE_EVIDENCE;
    this.probing.plan(1 / SURE_EVIDENCE, SURE_EVIDENCE);
    this.marks = new CongestionSamples({ from: now, to: now });
    this.open.startedAt = now;
    this.probing.start(perMs, now, 0);
  }

  /** Nothing is known about the time from `from` to `to`: the provider may have saved capacity. */
  interrupted(from: number, to: number): void {
    if (this.marks === undefined) return;
    this.marks.restart(from, to);
    this.closure = undefined;
    this.open.restart(to);
    this.evidence = Math.min(this.evidence, EVIDENCE_AFTER);
  }

  /** Whether anything was measured. */
  get isKnown(): boolean {
    return this.marks !== undefined;
  }

  /** The measured rate, per ms; 0 if there is none. */
  get measuredPerMs(): number {
    return this.perMs;
  }

  /** The number of accepted attempts behind the measured rate. */
  get restsOn(): number {
    return this.evidence;
  }

  get bounds(): RateBounds | undefined {
    return this._bounds;
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
    if (this.marks === undefined) return Number.POSITIVE_INFINITY;
    const pacePerMs = this.probing.paceOf(this.sentPerMs);
    return this.byChance.isMeasuring ? Math.min(this.perMs, pacePerMs) : pacePerMs;
  }

  /**
   * The pace until the results are known that the rate is measured by anew, per ms: what was accepted
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
    return this.perMs / (1 - this.byChance.share);
  }

  /**
   * Records an attempt when its result, and those of all attempts sent before, are known.
   * @param horizonMs the time within which rejections return
   * @param namedUntil the earliest end of the wait that the provider named; -Infinity if it named
   * none
   * @returns whether the rate was measured anew
   */
  settled(sent: SentAttempt, namedUntil: number, horizonMs: number): boolean {
    this.first.sent(sent.at);
    this.byChance.settled(sent, sent.pacePerMs <= this.perMs);
    this.open.settled(sent);
    this.burst.settled(sent, this.perMs);
    if (sent.outcome === 'rejected') {
      this.reject(sent);
      return false;
    }
    const { closure } = this;
    closure?.accept(sent);
    const hasReopened = closure !== undefined && sent.order >= closure.noticedAt;
    const isByChance = hasReopened && this.isByChance(closure, sent);
    if (isByChance) this.closure = undefined;
    else if (hasReopened) this.reopened(closure, sent, namedUntil);
    this.open.accepted += 1;
    if (this.marks === undefined) this.first.accepted(this.open.accepted, sent.at);
    this.probing.accepted(sent, horizonMs, this.byChance.share > 0);
    this.outgrow(sent.at);
    return hasReopened && !isByChance;
  }

  /** Raises the rate if more was accepted since the last closure than it explains. */
  private outgrow(at: number): void {
    if (this.marks === undefined || this.closure !== undefined) return;
    const { perMs } = this;
    const outgrown = this.open.outgrown(perMs, this._bounds, at);
    if (outgrown === undefined) return;
    if (outgrown.isDisproved) this.probing.hasten();
    // A rate to begin with was not measured here: from it, the excess alone grows sooner.
    if (this._bounds === undefined && this.evidence >= SURE_EVIDENCE) return;
    this.probing.raised(perMs, outgrown.perMs);
    this.perMs = outgrown.perMs;
  }

  private isByChance(closure: Closure, { at, order }: SentAttempt): boolean {
    const { byChance } = this;
    if (closure.isBySaved || closure.usedUpPerMs > 0 || this.marks === undefined) return false;
    if (closure.pacePerMs === Number.POSITIVE_INFINITY) return false;
    const before = byChance.share;
    if (!byChance.explain(closure)) return false;
    if (byChance.share > before) this.restore(byChance.rateBefore(closure), at, order);
    return true;
  }

  /** Tries a rate, per ms, that was accepted before rejections by chance lowered it. */
  private restore(perMs: number, at: number, order: number): void {
    this.perMs = Math.max(this.perMs, perMs * (1 - this.byChance.share));
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

  private reopened(closure: Closure, sent: SentAttempt, namedUntil: number): void {
    this.closure = undefined;
    if (closure.isBySaved) this.burst.end();
    // A rejection may return late: an attempt accepted meanwhile shows that the provider was open.
    const to = closure.reopenedAt ?? sent.at;
    if (this.marks === undefined && this.first.isSkipped(closure, to, namedUntil)) return;
    // Others have used up the limit: that shows nothing about the rate of a process that begins.
    const isByOthers = closure.usedUpPerMs > 0 && closure.accepted < LEAST_OWN;
    if (isByOthers && (this.marks === undefined || this.evidence < SURE_EVIDENCE)) return;
    // If the provider named the end of the closure, it was closed until then.
    const from = Math.min(to, Math.max(closure.lastAt, namedUntil));
    if (this.marks === undefined) this.firstMeasure(closure, from, to);
    else if (closure.isBySaved) this.marks.restart(from, to);
    else this.measure(this.marks, closure, from, to);
    this.open.reopened(closure, from, to);
    const closedMs = to - closure.startedAt - closure.lateMs;
    const unearned = Math.min(this.mostAtOnce, this.perMs * closedMs);
    this.probing.stopped({
      usedUpPerMs: closure.usedUpPerMs,
      pacePerMs: closure.pacePerMs,
      perMs: this.perMs,
      isSure: this.evidence >= SURE_EVIDENCE,
    });
    this.probing.start(this.sentPerMs, to, sent.order, unearned, closedMs);
  }

  /** The first closure: the attempts accepted until then are at most a window's limit. */
  private firstMeasure({ accepted, idleMs, lateMs }: Closure, from: number, to: number): void {
    const least = Math.max(1, accepted);
    const endMs = to - lateMs;
    const first = this.first.measure(least, idleMs, Math.min(from, endMs), endMs);
    const { perMs, sinceMs, excess, doubling } = first;
    this.open.cycled(sinceMs);
    const hardPerMs = this.hard.perMs('requests');
    // A single closure does not disprove a configured limit.
    this.perMs = hardPerMs === Number.POSITIVE_INFINITY ? perMs : Math.max(perMs, hardPerMs);
    this.evidence = 1;
    this.probing.plan(excess, doubling);
    this.mostAtOnce = Math.max(1, least - this.open.beforeIdle);
    this.burst.begin(this.mostAtOnce, this.hard.burst('requests'));
    this.marks = new CongestionSamples({ from, to });
  }

  private measure(marks: CongestionSamples, closure: Closure, from: number, to: number): void {
    const { idleMs, lateMs, startedAt } = closure;
    const pacePerMs = closure.pacePerMs * (1 - this.byChance.share);
    const accepted = closure.byPace;
    const closedMs = to - startedAt - lateMs;
    const openMs = this.open.openMs(closure);
    // If outages follow each other until the rate is not sure any more, the limit may be the cause.
    const isAgain = this.wasOutage && this.evidence < SURE_EVIDENCE;
    const isOutage =
      (closure.isOutage && !isAgain) ||
      (Math.min(this.evidence, accepted) >= SURE_EVIDENCE &&
        closedMs * this.perMs > OUTAGE_INTERVALS &&
        accepted / (openMs + closedMs) < OUTAGE_PART * this.perMs);
    marks.skip(idleMs + lateMs);
    if (isOutage) {
      marks.skip(closedMs);
      marks.add({ accepted, from: to, to, isFull: false, pacePerMs });
      // If outages follow each other, the rate may be wrong.
      const evidence = this.wasOutage ? this.evidence / 2 : this.evidence;
      this.evidence = Math.min(evidence, EVIDENCE_AFTER);
      this.wasOutage = true;
      this.probing.excess = 1 / this.evidence;
      return;
    }
    this.wasOutage = false;
    this.open.cycled(openMs + closedMs);
    const isStray =
      !this.wasStray && marks.hasRow && accepted <= 2 && idleMs === 0 && openMs < this.open.gapMs;
    this.wasStray = isStray;
    const openFrom = Math.min(to, from + lateMs);
    if (isStray) marks.prolong(accepted, openFrom, to);
    else {
      const grew = pacePerMs > (GREW * (accepted + 1)) / openMs;
      const isWindow = !this.isForAll && closedMs > CLOSED_PART * (openMs + closedMs);
      this.probing.cycled(accepted, grew, isWindow);
      const isFull = !grew && idleMs < IDLE_PART * (to - this.open.startedAt);
      marks.add({ accepted, from: openFrom, to, isFull, pacePerMs });
    }
    const before = this.perMs;
    const bounds = marks.bounds();
    if (bounds !== undefined) this.follow(bounds);
    const isLong = closedMs > CLOSED_PART * (openMs + closedMs);
    if (!isLong && !isStray && idleMs === 0) {
      const meanPerMs = accepted / (openMs + closedMs);
      this.perMs = this.unsaved.next(accepted, meanPerMs, pacePerMs, this.perMs);
    }
    // The duration of the closure alone lowered the rate, and it may have had another cause.
    if (this.perMs < FELL * before && isLong) {
      this.evidence = Math.min(this.evidence, LEAST_DOUBLING);
      this.probing.plan(1 / this.evidence, LEAST_DOUBLING);
    }
  }

  private follow(bounds: RateBounds): void {
    this._bounds = bounds;
    const { perMs, evidence, excess } = nextRate(bounds, this.perMs);
    this.perMs = perMs;
    this.evidence = evidence;
    this.probing.plan(excess, evidence, bounds.hasChanged);
  }
}
