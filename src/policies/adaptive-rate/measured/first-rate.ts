/** The number of counts that are kept for each doubling of the accepted attempts. */
const STEPS = 4;

/**
 * The rate accepted before the first rejection. Sending starts slowly, so the mean since the first
 * attempt is too low where answers take long. Then the mean over the second half of the accepted
 * attempts is used.
 */
export class FirstRate {
  private readonly steps: { readonly accepted: number; readonly at: number }[] = [];

  /** @param accepted attempts so far, of which the last was sent at `at` */
  add(accepted: number, at: number): void {
    if (STEPS * Math.log2(accepted) >= this.steps.length) this.steps.push({ accepted, at });
  }

  /**
   * Attempts per ms.
   * @param accepted attempts between `from` and `to`
   */
  perMs(accepted: number, from: number, to: number): number {
    const half = this.steps.findLast((step) => step.accepted <= accepted / 2);
    const mean = accepted / Math.max(1, to - from);
    if (half === undefined) return mean;
    return Math.max(mean, (accepted - half.accepted) / Math.max(1, to - half.at));
  }

  /** Frees the memory: no further rate is asked for. */
  clear(): void {
    this.steps.length = 0;
  }
}
