import {
  acceptedPerMs,
  isBelow,
  isNoMore,
  isPaced,
  isSame,
  type RejectionStage,
  shareOf,
} from './rejection-stage.ts';
import { ShareMeasure } from './share-measure.ts';
import { ShareTest } from './share-test.ts';
import { ShareTrial } from './share-trial.ts';
import { type ChanceShare, type ComparedAttempt, SlowComparison } from './slow-comparison.ts';

/** The least number of rejections in a stage; stages are compared with each other. */
const REJECTIONS = 6;
/** The rate must have fallen this often to be compared, and twice as often after each mistake. */
const FALLS = 2;
/**
 * The rate must also have fallen below this share of what was accepted in the first stage: if the
 * rate was the cause, nothing would be rejected there.
 */
const LOWER = 0.93;
/** A smaller share than this is none. */
const LEAST_SHARE = 1e-3;

/**
 * After a trial or a comparison, a greater share must explain the last attempts better by this power
 * of e.
 */
const SURE_TRIED = 5;

/** How cautiously rejections are ignored. */
export interface Caution {
  /** The least number of stops in a stage. */
  readonly stops: number;
  /** A greater share is never by chance. */
  readonly mostShare: number;
  /** A greater share must pass a trial, and is never by chance where none can be made. */
  readonly untriedShare: number;
  /** A greater share must explain the last attempts better by this power of e. */
  readonly sure: number;
  /** Whether a trial must confirm a comparison. */
  readonly needsTrial: boolean;
}

/**
 * Finds rejections that do not depend on the rate: if the rate falls several times, less is
 * accepted, and the share of rejected attempts stays the same, the rate is not the cause. Then the
 * earlier rate is tried again. If more is accepted, rejections are ignored from then on, until they
 * are clearly more than their share. Where rejections name waits, {@link SlowComparison} finds them.
 */
export class RejectionDamping {
  private readonly caution: Caution;
  private stops = 0;
  private total = 0;
  private rejected = 0;
  private perMs = 0;
  private startedAt = 0;
  private settledAt = 0;
  private firstStage: RejectionStage | undefined = undefined;
  private lastStage: RejectionStage | undefined = undefined;
  private falls = 0;
  private needed = FALLS;
  /** Attempts in the stages after the first one, and the rejected ones of these. */
  private later = 0;
  private laterRejected = 0;
  private _share = 0;
  private _ratePerMs = 0;
  private test: ShareTest;
  private readonly measure = new ShareMeasure();
  private readonly slow = new SlowComparison();
  /** Whether a comparison has shown the share. */
  private isCompared = false;
  readonly trial = new ShareTrial();
  /** Whether attempts can be sent for a trial, and slower for a comparison. */
  canTry = true;
  /** Whether rejections have told details. */
  isTold = false;
  /** The last stage and the share before a trial. */
  private untried: ChanceShare | undefined = undefined;
  /** The last stage before the earlier rate was tried again. */
  private beforeTrial: RejectionStage | undefined = undefined;

  constructor(caution: Caution) {
    this.caution = caution;
    this.test = new ShareTest(caution.sure);
  }

  /** The share of attempts that is rejected whatever the rate; 0 if none is known. */
  get share(): number {
    return this._share;
  }

  /** Whether the share is measured, so that no more must be sent than the provider accepts. */
  get isMeasuring(): boolean {
    return this.measure.isRunning;
  }

  /** The greatest pace, per ms. @param measuredPerMs the measured rate */
  mostPerMs(measuredPerMs: number): number {
    const mostPerMs = this.slow.mostPerMs(measuredPerMs);
    return this.isMeasuring ? Math.min(measuredPerMs, mostPerMs) : mostPerMs;
  }

  /** The rate, per ms, before the falls or the comparison that did not reduce the share. */
  get ratePerMs(): number {
    return this._ratePerMs;
  }

  /**
   * An attempt was accepted or rejected.
   * @param measuredPerMs the measured rate, per ms
   */
  settled(isRejected: boolean, sent: ComparedAttempt, measuredPerMs: number): void {
    const { at, pacePerMs } = sent;
    if (this.total === 0) this.startedAt = Math.max(this.settledAt, at - 1);
    this.settledAt = at;
    this.total += 1;
    if (isRejected) this.rejected += 1;
    const share = this._share;
    if (share === 0) {
      const found = this.slow.settled(isRejected, sent, measuredPerMs);
      if (found !== undefined) this.compared(found);
      return;
    }
    this.test.settled(isRejected, share);
    const { fewer } = this.test;
    if (fewer !== undefined) this.set((share + fewer) / 2);
    if (!this.isMeasuring || pacePerMs > measuredPerMs) return;
    const measured = this.measure.settled(isRejected, share);
    if (measured !== undefined) this.set(measured);
  }

  /**
   * Attempts were rejected, and the next one accepted.
   * @param pacePerMs the pace at which they were sent
   * @returns whether to ignore the rejections
   */
  isByChance(pacePerMs: number): boolean {
    this.stops += 1;
    this.perMs += (pacePerMs - this.perMs) / this.stops;
    const share = this._share;
    if (share === 0) {
      if (this.canTry && !this.trial.isSending) this.slow.stopped(pacePerMs);
      if (this.stops >= this.caution.stops && this.rejected >= REJECTIONS)
        this.follow(this.endStage());
      return this._share > 0;
    }
    if (!this.test.isMore(share)) return true;
    this.test = this.newTest();
    this.measure.start();
    const { beforeTrial } = this;
    const stage = this.endStage();
    this.beforeTrial = undefined;
    if (beforeTrial !== undefined && isNoMore(stage, beforeTrial)) this.disprove();
    else this.follow(stage);
    return this._share > share;
  }

  /** Rejections at a slower pace have the same share. Other processes may have caused them, too. */
  private compared(found: ChanceShare): void {
    this.isCompared = true;
    this.firstStage = undefined;
    this._ratePerMs = found.stage.perMs;
    this.endStage();
    if (this.caution.needsTrial) this.tryOut(found);
    else this.believe(found);
  }

  private tryOut(found: ChanceShare): void {
    this.untried = found;
    this.trial.start(found.share);
  }

  private endStage(): RejectionStage {
    const { perMs, total, rejected } = this;
    const ms = Math.max(1, this.settledAt - this.startedAt);
    this.stops = 0;
    this.total = 0;
    this.rejected = 0;
    return { perMs, ms, total, rejected };
  }

  private follow(stage: RejectionStage): void {
    const { firstStage: first, lastStage: last } = this;
    const isAsFirst = first !== undefined && this.isPossible(stage) && isSame(stage, first);
    if (this._share > 0 && first !== undefined && !isAsFirst) return;
    this.lastStage = stage;
    const hasFallen = isAsFirst && acceptedPerMs(stage) < acceptedPerMs(first);
    if (last === undefined || !hasFallen) {
      this.firstStage = stage;
      this.falls = 0;
      this.later = 0;
      this.laterRejected = 0;
      return;
    }
    this.later += stage.total;
    this.laterRejected += stage.rejected;
    if (isBelow(1, stage, last)) this.falls += 1;
    const isLow = isBelow(LOWER * (1 - shareOf(first)), stage, first);
    const share = this.laterRejected / this.later;
    if (this.falls < this.needed || !isLow || !isPaced(stage) || share <= this._share) return;
    this.firstStage = undefined;
    this._ratePerMs = acceptedPerMs(first);
    if (share > this.caution.untriedShare) this.tryOut({ stage, share });
    else this.believe({ stage, share });
  }

  /** @returns whether a trial has shown that rejections are by chance */
  tried(isRejected: boolean): boolean {
    const isPassed = this.trial.settled(isRejected);
    if (isPassed === undefined || this.untried === undefined) return false;
    if (isPassed) this.believe(this.untried);
    else {
      this.slow.fail();
      this.disprove();
    }
    return isPassed;
  }

  private believe({ stage, share }: ChanceShare): void {
    this.beforeTrial = stage;
    this.set(share);
  }

  private isPossible(stage: RejectionStage): boolean {
    const { mostShare, untriedShare } = this.caution;
    return shareOf(stage) < (this.canTry && !this.isTold ? mostShare : untriedShare);
  }

  private set(share: number): void {
    this._share = share < LEAST_SHARE ? 0 : share;
    this.test = this.newTest();
    if (this._share > 0) return;
    this.measure.stop();
    this.isCompared = false;
  }

  private newTest(): ShareTest {
    const { untriedShare, sure } = this.caution;
    const isTried = this.isCompared || this._share > untriedShare;
    return new ShareTest(isTried ? SURE_TRIED : sure);
  }

  private disprove(): void {
    this.set(0);
    this.needed *= 2;
    this.firstStage = undefined;
  }
}
