/** Counts are kept at so many steps for each doubling. */
const STEPS = 4;

/**
 * The rate until a provider rejects for the first time. At first only as much is sent as was verified,
 * so that the mean since the first attempt says little where answers take long: what was accepted since
 * half of it was says more.
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

  /** It is not asked again. */
  clear(): void {
    this.steps.length = 0;
  }
}
