/** A closure was too long if more than this share of it may have been unnecessary. */
const UNNECESSARY_PART = 0.5;
/** It cost much if the pace would have sent more than this number of attempts in that time. */
const LEAST_LOST = 16;
/** It began at the pace of the closure before if the two differ by less than this factor. */
const SAME = 1.1;
/** After it the pace is this share of the pace at which it began. */
const HELD_PART = 0.8;
/** It stays so for as many attempts as the earlier pace would have sent in this number of closures. */
const CLOSURES = 16;
/** Then it doubles this number of times each time that as many are verified again. */
const DOUBLINGS = 2;

/** How a closure ended. */
export interface EndedClosure {
  /** The pace at which it began, per ms. */
  readonly pacePerMs: number;
  /** The measured rate, per ms. */
  readonly perMs: number;
  readonly closedMs: number;
  /** For how long the provider may have been open before that was found, in ms. */
  readonly unknownMs: number;
}

/**
 * Holds the pace below the one that was rejected last, if rejections cost much more than they
 * should. An example: a limit on the distance between requests admits the next one after a moment,
 * but the rejection names a second, the least whole number. To try a higher pace then costs the
 * requests of that second, and is worth it only now and then.
 *
 * Two closures in a row must begin at the same pace: rejections at random come at any pace. And the
 * measured rate must be far below it: a window takes nothing while it is used up, whatever the pace.
 */
export class HeldPace {
  private rejectedPerMs = 0;
  /** The number of verified attempts until the pace grows; 0: it is not held. */
  private heldFor = 0;

  stopped({ pacePerMs, perMs, closedMs, unknownMs }: EndedClosure): void {
    const ratio = pacePerMs / this.rejectedPerMs;
    const isSame = ratio < SAME && ratio > 1 / SAME;
    this.rejectedPerMs = pacePerMs;
    const lost = unknownMs * pacePerMs;
    const isCostly = unknownMs > UNNECESSARY_PART * closedMs && lost > LEAST_LOST;
    this.heldFor = isSame && isCostly && perMs < HELD_PART * pacePerMs ? CLOSURES * lost : 0;
  }

  /** The limit has changed by a factor. */
  scale(factor: number): void {
    this.rejectedPerMs *= factor;
  }

  /**
   * The highest pace, per ms; Infinity: it is not held.
   * @param verified attempts that were verified since the closure
   */
  most(verified: number): number {
    if (this.heldFor === 0) return Number.POSITIVE_INFINITY;
    const grown = Math.max(0, verified / this.heldFor - 1);
    return HELD_PART * this.rejectedPerMs * 2 ** (DOUBLINGS * grown);
  }
}
