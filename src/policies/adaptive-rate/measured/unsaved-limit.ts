/** Two cycles ended at the same pace if their paces differ by no more than this factor. */
const SAME = 1.03;
/** That pace must be above the measured rate by this factor. */
const ABOVE = 1.03;
/** Cycles with fewer accepted attempts do not count. */
const LEAST = 20;
/** The most cycles in a row that are needed for a trial. */
const MOST_NEEDED = 64;

/**
 * Finds the rate of a limit that saves nothing, such as a limit on the distance between requests
 * (GCRA without a burst, `limit_req` of nginx). It accepts each request that keeps the distance,
 * and capacity that is not used at once is lost. In a cycle, from one rejection to the next, the
 * pace begins below such a limit and ends at it, so the mean of the cycle is too low a measure. The
 * cycle of a bucket may look the same, and there the mean is right. A trial shows which it is: the
 * next cycle begins halfway between mean and end. A bucket is empty by then, and soon rejects this
 * pace; a limit that saves nothing accepts it.
 */
export class UnsavedLimit {
  private endPerMs = 0;
  private same = 0;
  private needed = 1;
  /**
   * The rate that the cycle of a trial must exceed for the trial to hold; 0 if there is no trial.
   */
  private leastPerMs = 0;

  /**
   * A cycle ended with a short closure. All rates are per ms.
   * @param accepted attempts in the cycle
   * @param meanPerMs these, divided by the time of the cycle
   * @param endPerMs the pace at which it ended
   * @param perMs the measured rate
   * @returns the rate with which the next cycle begins
   */
  next(accepted: number, meanPerMs: number, endPerMs: number, perMs: number): number {
    if (this.leastPerMs > 0) {
      const holds = meanPerMs > this.leastPerMs;
      this.needed = holds ? 1 : Math.min(MOST_NEEDED, 2 * this.needed);
      this.leastPerMs = 0;
    }
    const ratio = endPerMs / this.endPerMs;
    const isSame = ratio < SAME && ratio > 1 / SAME;
    this.endPerMs = endPerMs;
    this.same = isSame && accepted >= LEAST && endPerMs > ABOVE * perMs ? this.same + 1 : 0;
    if (this.same < this.needed) return perMs;
    this.same = 0;
    const triedPerMs = Math.sqrt(perMs * endPerMs);
    this.leastPerMs = (perMs + triedPerMs) / 2;
    return triedPerMs;
  }
}
