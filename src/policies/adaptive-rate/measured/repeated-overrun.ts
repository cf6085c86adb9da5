/** A closure that begins at this multiple of the mean rate, or a greater one, is an overrun. */
const OVERRUN = 1.5;
/** Between two overruns of one window, at least this part of its attempts is accepted. */
const LEAST_PART = 0.25;
/** Two overruns in a row accept the same number of attempts if they differ by less than this factor. */
const SAME = 1.3;
/** Smaller windows count as none: their numbers are the same by chance. */
const LEAST_WINDOW = 100;
/** The window has accepted unevenly if a rate was measured that is below this share of the mean. */
const CONTRADICTED = 0.8;
/** While overruns repeat, the pace is at most this multiple of the mean rate. */
const MOST = 1.1;
/** They do not repeat any more if none comes while this number of windows is accepted. */
const WINDOWS = 4;

/**
 * Finds the mean rate of a window that is used up anew again and again. A sliding log opens as it
 * was filled: after a burst, it accepts little for a while and then another burst. What it accepts
 * at one time is no measure of its rate, but what it accepts from one overrun to the next is.
 */
export class RepeatedOverrun {
  /** What was accepted since the last overrun, and in which time. */
  private accepted = 0;
  private ms = 0;
  /** What was accepted between the last two overruns, and the mean rate, per ms. */
  private window = 0;
  private meanPerMs = 0;
  /** The lowest rate that was measured since the last overrun, per ms. */
  private leastPerMs = Number.POSITIVE_INFINITY;
  private isRepeated = false;

  /**
   * A cycle has ended with a closure.
   * @param accepted the attempts accepted in it
   * @param ms its duration, without the time in which the provider may have been open unnoticed
   * @param pacePerMs the pace at which the closure began; 0 if hardly more than what was accepted
   * @param perMs the rate that was measured before, per ms
   */
  cycled(accepted: number, ms: number, pacePerMs: number, perMs: number): void {
    if (pacePerMs === Number.POSITIVE_INFINITY) return;
    this.accepted += accepted;
    this.ms += ms;
    this.leastPerMs = Math.min(this.leastPerMs, perMs);
    if (this.accepted > WINDOWS * this.window) this.isRepeated = false;
    const isOverrun = pacePerMs * this.ms >= OVERRUN * this.accepted;
    if (!isOverrun || this.accepted < LEAST_PART * this.window) return;
    const isSame = this.accepted < SAME * this.window && this.window < SAME * this.accepted;
    const isContradicted = this.leastPerMs * this.ms < CONTRADICTED * this.accepted;
    this.isRepeated = isSame && isContradicted && this.accepted > LEAST_WINDOW;
    this.window = this.accepted;
    this.meanPerMs = this.accepted / this.ms;
    this.accepted = 0;
    this.ms = 0;
    this.leastPerMs = Number.POSITIVE_INFINITY;
  }

  /** The limit has changed by a factor. */
  scale(factor: number): void {
    this.accepted *= factor;
    this.window *= factor;
    this.meanPerMs *= factor;
    this.leastPerMs *= factor;
  }

  /** Whether a pace, per ms, is known to be too low. */
  exceeds(pacePerMs: number): boolean {
    return this.isRepeated && pacePerMs < this.meanPerMs;
  }

  /**
   * The highest pace, per ms; Infinity: any.
   * @param verified attempts that were verified since the last closure
   */
  most(verified: number): number {
    const isBound = this.isRepeated && verified <= this.window;
    return isBound ? MOST * this.meanPerMs : Number.POSITIVE_INFINITY;
  }
}
