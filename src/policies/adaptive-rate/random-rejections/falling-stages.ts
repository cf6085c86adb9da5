import {
  acceptedPerMs,
  type ChanceShare,
  isBelow,
  isBrief,
  isSame,
  joined,
  type RejectionStage,
  shareOf,
} from './rejection-stage.ts';

/** The rate must have fallen this often to be compared, and twice as often after each mistake. */
const FALLS = 2;
/**
 * The rate must also have fallen below this share of what was accepted in the first stage: if the
 * rate was the cause, nothing would be rejected there.
 */
const LOWER = 0.93;
/**
 * Stages need not be alike where less is accepted than in the best one by this factor, and by twice
 * the factor after each mistake.
 */
const FAR = 8;

/**
 * Compares stages: if the rate falls several times, less is accepted, and the share of rejected
 * attempts stays the same, the rate is not the cause.
 */
export class FallingStages {
  private readonly untriedShare: number;
  private first: RejectionStage | undefined = undefined;
  private last: RejectionStage | undefined = undefined;
  private falls = 0;
  private needed = FALLS;
  private far = FAR;
  /** Whether the last finding was a stage far below the best one. */
  private isFar = false;
  /** Attempts in the stages after the first one, and the rejected ones of these. */
  private later = 0;
  private laterRejected = 0;
  /** The most that was accepted in a stage, per ms. */
  private bestPerMs = 0;

  /** @param untriedShare a greater share must pass a trial */
  constructor(untriedShare: number) {
    this.untriedShare = untriedShare;
  }

  /**
   * @param share the share that is known to be by chance
   * @param mostShare a greater share is not by chance
   * @returns the share that seems to be by chance, if that is more than is known
   */
  follow(stage: RejectionStage, share: number, mostShare: number): ChanceShare | undefined {
    const isPossible = shareOf(stage) < mostShare;
    this.bestPerMs = Math.max(this.bestPerMs, acceptedPerMs(stage));
    const far = share === 0 && isPossible ? this.farBelow(stage, mostShare) : undefined;
    const found = far ?? this.alike(stage, isPossible, share > 0);
    if (found === undefined || found.share <= share) return undefined;
    this.isFar = found === far;
    this.restart();
    return found;
  }

  /** The next stage is the first one again. */
  restart(): void {
    this.first = undefined;
  }

  /** The share that was found was not by chance. */
  fail(): void {
    this.restart();
    if (this.isFar) this.far *= 2;
    else this.needed *= 2;
  }

  /** Earlier mistakes count no more. */
  forgive(): void {
    this.needed = FALLS;
    this.far = FAR;
  }

  /** Far less is accepted than before, and rejections are single. */
  private farBelow(stage: RejectionStage, mostShare: number): ChanceShare | undefined {
    const { last, bestPerMs } = this;
    const isFar = this.far * acceptedPerMs(stage) < bestPerMs;
    if (last === undefined || !isFar || !isBrief(stage)) return undefined;
    const share = shareOf(joined([stage, last]));
    // Where no trial can be made, there is no share between these two.
    if (share <= this.untriedShare || share >= mostShare) return undefined;
    this.last = stage;
    return { stage, share, ratePerMs: bestPerMs };
  }

  /** @param isKnown whether a share is known; only stages like the first one show that it is greater */
  private alike(
    stage: RejectionStage,
    isPossible: boolean,
    isKnown: boolean,
  ): ChanceShare | undefined {
    const { first, last } = this;
    const isAsFirst = first !== undefined && isPossible && isSame(stage, first);
    if (isKnown && first !== undefined && !isAsFirst) return undefined;
    this.last = stage;
    const hasFallen = isAsFirst && acceptedPerMs(stage) < acceptedPerMs(first);
    if (last === undefined || !hasFallen) {
      this.first = stage;
      this.falls = 0;
      this.later = 0;
      this.laterRejected = 0;
      return undefined;
    }
    this.later += stage.total;
    this.laterRejected += stage.rejected;
    if (isBelow(1, stage, last)) this.falls += 1;
    const isLow = isBelow(LOWER * (1 - shareOf(first)), stage, first);
    if (this.falls < this.needed || !isLow || !isBrief(stage)) return undefined;
    const share = this.laterRejected / this.later;
    return { stage, share, ratePerMs: acceptedPerMs(first) };
  }
}
