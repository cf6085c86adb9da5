import type { SentAttempt } from '../attempts/sent-attempt.ts';
import { IrregularClosures } from './irregular-closures.ts';
import {
  acceptedPerMs,
  type ChanceShare,
  type RejectionStage,
  shareOf,
} from './rejection-stage.ts';

/** A limit rejects nothing at this part of the rate that it has accepted on the whole. */
const PART = 0.8;
/** So many rejections at that pace are by chance. */
const REJECTIONS = 2;
/** Rejections are not by chance if they are fewer than expected by this factor. */
const FEWER = 3;

export type ComparedAttempt = Pick<SentAttempt, 'at' | 'pacePerMs' | 'idleMs' | 'isBare'>;

/**
 * Tells rejections by chance from those by a limit where each names a wait: the measured rate counts
 * the waits, and falls whatever the cause. After irregular closures, attempts are sent somewhat
 * slower than what was accepted on the whole. A limit rejects none of them, chance the same share.
 */
export class SlowComparison {
  private readonly closures = new IrregularClosures();
  /** The attempts to compare with; undefined if nothing is compared. */
  private first: RejectionStage | undefined = undefined;
  private total = 0;
  private rejected = 0;
  /** How often closures must be irregular for a comparison; twice as often after each mistake. */
  private needed = 1;
  private seen = 0;

  /** The greatest pace, per ms. @param measuredPerMs the measured rate */
  mostPerMs(measuredPerMs: number): number {
    const { first } = this;
    if (first === undefined) return Number.POSITIVE_INFINITY;
    return PART * Math.max(measuredPerMs, acceptedPerMs(first));
  }

  /** A closure has ended. @param pacePerMs the pace of its first attempt */
  stopped(pacePerMs: number): void {
    if (this.first !== undefined) return;
    const irregular = this.closures.stopped(pacePerMs);
    if (irregular === undefined) return;
    this.seen += 1;
    if (this.seen < this.needed) return;
    this.seen = 0;
    this.total = 0;
    this.rejected = 0;
    this.first = irregular;
  }

  /**
   * An attempt was accepted or rejected.
   * @param measuredPerMs the measured rate, per ms
   * @returns the greatest probable share of rejections by chance, which is the measured one and its
   * standard error; undefined while none is known
   */
  settled(
    isRejected: boolean,
    sent: ComparedAttempt,
    measuredPerMs: number,
  ): ChanceShare | undefined {
    // Without demand, and without named waits, other rules apply.
    if (sent.idleMs > 0 || (isRejected && sent.isBare)) this.restart();
    const { first } = this;
    if (first === undefined) this.closures.settled(isRejected, sent.at);
    if (first === undefined || sent.pacePerMs > this.mostPerMs(measuredPerMs)) return undefined;
    this.total += 1;
    if (isRejected) this.rejected += 1;
    const isFewer = this.total * shareOf(first) > FEWER * (this.rejected + 1);
    if (isFewer) this.fail();
    if (isFewer || this.rejected < REJECTIONS) return undefined;
    this.restart();
    const total = first.total + this.total;
    const share = (first.rejected + this.rejected) / total;
    const error = Math.sqrt((share * (1 - share)) / total);
    return { stage: first, share: share + error, ratePerMs: first.perMs };
  }

  /** The rejections are not by chance. */
  fail(): void {
    this.needed *= 2;
    this.restart();
  }

  private restart(): void {
    this.first = undefined;
    this.closures.restart();
  }
}
