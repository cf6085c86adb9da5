import type { Closure } from '../attempts/closure.ts';
import type { SentAttempt } from '../attempts/sent-attempt.ts';
import { RejectionDamping } from './rejection-damping.ts';
import type { ShareTrial } from './share-trial.ts';

/**
 * Rejections that look like those by the limit. Where other processes use the limit too, their
 * number does not depend on the own rate either: then a small share may be ignored at most, and a
 * short increase of it ends that. A trial shows whether a greater share is by chance.
 */
const LIKE_THE_LIMIT = {
  stops: 6,
  mostShare: 0.75,
  toldShare: 0.15,
  untriedShare: 0.05,
  sure: 2,
  needsTrial: true,
};
/** Rejections with another cause, such as an overload. A greater share is an outage. */
const OF_OTHER_KIND = {
  stops: 3,
  mostShare: 0.75,
  toldShare: 0.75,
  untriedShare: 0.75,
  sure: 5,
  needsTrial: false,
};

/**
 * Rejections that do not depend on the rate: those that look like rejections by the limit, and those
 * with another cause.
 */
export class RejectionsByChance {
  private readonly likeLimit = new RejectionDamping(LIKE_THE_LIMIT);
  private readonly otherKind = new RejectionDamping(OF_OTHER_KIND);

  /** @param canTry whether attempts can be sent at once for a trial */
  constructor(canTry: boolean) {
    this.likeLimit.canTry = canTry;
  }

  /** The share of attempts that is rejected whatever the rate; 0 if none is known. */
  get share(): number {
    return 1 - (1 - this.likeLimit.share) * (1 - this.otherKind.share);
  }

  /**
   * The greatest pace, per ms: while shares are measured or compared, no more must be sent than the
   * provider accepts. @param measuredPerMs the measured rate
   */
  mostPerMs(measuredPerMs: number): number {
    const { likeLimit, otherKind } = this;
    return Math.min(likeLimit.mostPerMs(measuredPerMs), otherKind.mostPerMs(measuredPerMs));
  }

  /**
   * @param measuredPerMs the measured rate, per ms
   * @returns the rate that was sent before, per ms, if rejections have proved to be by chance
   */
  settled(sent: SentAttempt, measuredPerMs: number): number | undefined {
    if (sent.outcome !== 'rejected') {
      this.likeLimit.settled(false, sent, measuredPerMs);
      this.otherKind.settled(false, sent, measuredPerMs);
      return undefined;
    }
    // The waits that a limit names vary, or it reports what is left.
    if (!sent.isOfOtherKind && !sent.mayBeByCap) this.likeLimit.isTold = true;
    const kind = this.of(sent);
    const { share } = kind;
    kind.settled(true, sent, measuredPerMs);
    return share === 0 && kind.share > 0 ? kind.ratePerMs : undefined;
  }

  /** @returns whether to ignore the rejections of a closure that has ended */
  explain(closure: Closure): boolean {
    return this.of(closure).isByChance(closure.pacePerMs);
  }

  get trial(): ShareTrial {
    return this.likeLimit.trial;
  }

  /**
   * An attempt of a trial has ended. A rejection that looks different shows nothing here, nor does
   * an attempt that was not sent at the pace of the trial.
   * @returns the rate that was accepted before, per ms, if the trial has ended well
   */
  tried({ outcome, isOfOtherKind, lacksDemand, at, namedUntil }: SentAttempt): number | undefined {
    const result = isOfOtherKind || lacksDemand ? 'withdrawn' : outcome;
    return this.likeLimit.tried({ outcome: result, at, namedUntil })
      ? this.likeLimit.ratePerMs
      : undefined;
  }

  /** The rate, per ms, that was accepted before the falls by rejections of this kind. */
  rateBefore(closure: Closure): number {
    return this.of(closure).ratePerMs;
  }

  private of({ isOfOtherKind }: Pick<Closure, 'isOfOtherKind'>): RejectionDamping {
    return isOfOtherKind ? this.otherKind : this.likeLimit;
  }
}
