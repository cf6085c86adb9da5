import { FallingStages } from './falling-stages.ts';
import { RegularStops } from './regular-stops.ts';
import { type ChanceShare, isNoMore, type RejectionStage } from './rejection-stage.ts';
import { ShareMeasure } from './share-measure.ts';
import { ShareTest } from './share-test.ts';
import { ShareTrial, type TrialAttempt } from './share-trial.ts';
import { type ComparedAttempt, SlowComparison } from './slow-comparison.ts';

/** The least number of rejections in a stage; stages are compared with each other. */
const REJECTIONS = 6;
/**
 * Each time the share has explained so many rejections, earlier mistakes count no more. If it was
 * proven, it is measured again: a part of them may be by the limit.
 */
const EXPLAINED = 256;
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
  /** The same, where rejections have told details that only a limit has. */
  readonly toldShare: number;
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
 * are clearly more than their share, or come too regularly for chance. Where rejections name waits,
 * {@link SlowComparison} finds small shares sooner.
 */
export class RejectionDamping {
  private readonly caution: Caution;
  private stops = 0;
  private total = 0;
  private rejected = 0;
  private perMs = 0;
  private startedAt = 0;
  private settledAt = 0;
  private readonly stages: FallingStages;
  /** Rejections since the share was found, or measured again. */
  private explained = 0;
  private _share = 0;
  private _ratePerMs = 0;
  private test: ShareTest;
  private readonly regular = new RegularStops();
  private readonly measure = new ShareMeasure();
  private readonly slow = new SlowComparison();
  /** The share that a trial or a comparison has shown; 0 if none has. */
  private proven = 0;
  readonly trial = new ShareTrial();
  /** Whether attempts can be sent for a trial, and slower for a comparison. */
  canTry = true;
  /** Whether rejections have told details that only a limit has. */
  isTold = false;
  /** The last stage and the share before a trial. */
  private untried: ChanceShare | undefined = undefined;
  /** The last stage before the earlier rate was tried again. */
  private beforeTrial: RejectionStage | undefined = undefined;

  constructor(caution: Caution) {
    this.caution = caution;
    this.stages = new FallingStages(caution.untriedShare);
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
    this.regular.settled(isRejected);
    const share = this._share;
    if (share === 0) {
      const found = this.slow.settled(isRejected, sent, measuredPerMs);
      if (found !== undefined) this.compared(found);
      return;
    }
    if (isRejected) this.explained += 1;
    if (this.explained === EXPLAINED) {
      this.explained = 0;
      this.stages.forgive();
      if (this.proven > 0) this.measure.start();
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
    if (this.regular.stopped()) {
      this.endStage();
      this.disprove();
      return false;
    }
    if (!this.test.isMore) return true;
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
    this.stages.restart();
    this.endStage();
    if (this.caution.needsTrial) this.tryOut(found);
    else this.prove(found);
  }

  private tryOut(found: ChanceShare): void {
    this.trial.start(found.share);
    // The trial proves no more than its own pace.
    const ratePerMs = Math.min(found.ratePerMs, this.trial.paceOf(found.stage.perMs));
    this.untried = { ...found, ratePerMs };
  }

  private endStage(): RejectionStage {
    const { perMs, total, rejected, stops } = this;
    const ms = Math.max(1, this.settledAt - this.startedAt);
    this.stops = 0;
    this.total = 0;
    this.rejected = 0;
    return { perMs, ms, total, rejected, stops };
  }

  private follow(stage: RejectionStage): void {
    const { mostShare, toldShare, untriedShare } = this.caution;
    const triedShare = this.isTold ? toldShare : mostShare;
    const most = this.canTry ? triedShare : untriedShare;
    const found = this.stages.follow(stage, this._share, most);
    if (found === undefined) return;
    if (found.share <= Math.max(untriedShare, this.proven)) {
      this.believe(found);
      return;
    }
    this.tryOut(found);
    // If it passes, what is sent from then on gives a better measure.
    this.measure.start();
  }

  /** @returns whether a trial has shown that rejections are by chance */
  tried(attempt: TrialAttempt): boolean {
    const isPassed = this.trial.settled(attempt);
    if (isPassed === undefined || this.untried === undefined) return false;
    if (isPassed) this.prove(this.untried);
    else this.failTrial();
    return isPassed;
  }

  private prove(found: ChanceShare): void {
    this.proven = found.share;
    this.believe(found);
  }

  /** Where a smaller share was proven, it stays. A slower trial may pass, without more falls. */
  private failTrial(): void {
    this.slow.fail();
    if (this.proven === 0) this.set(0);
    if (this.trial.isSlowest) this.stages.fail();
    else this.stages.restart();
  }

  private believe({ stage, share, ratePerMs }: ChanceShare): void {
    this.beforeTrial = stage;
    this._ratePerMs = ratePerMs;
    this.explained = 0;
    this.set(share);
  }

  private set(share: number): void {
    this._share = share < LEAST_SHARE ? 0 : share;
    this.test = this.newTest();
    if (this._share > 0) return;
    this.measure.stop();
    this.proven = 0;
  }

  private newTest(): ShareTest {
    const { untriedShare, sure } = this.caution;
    const isTried = this.proven > 0 || this._share > untriedShare;
    return new ShareTest(isTried ? SURE_TRIED : sure);
  }

  private disprove(): void {
    this.set(0);
    this.stages.fail();
  }
}
