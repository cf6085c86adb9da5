/**
 * A measure ends when so many rejections are expected, or after so many attempts: while it runs, the
 * rate does not grow.
 */
const EXPECTED = 6;
const MOST_ATTEMPTS = 120;

/**
 * Measures the share of attempts that is rejected whatever the rate. Meanwhile no more is sent than
 * the provider accepts: else rejections by its limit would count, and a share that is taken for too
 * great would be measured again and again, since the pace rises with it.
 */
export class ShareMeasure {
  private total = 0;
  private rejected = 0;
  private _isRunning = false;

  get isRunning(): boolean {
    return this._isRunning;
  }

  start(): void {
    this._isRunning = true;
    this.total = 0;
    this.rejected = 0;
  }

  stop(): void {
    this._isRunning = false;
  }

  /**
   * Records an attempt that was sent no faster than the measured rate.
   * @param share the share so far
   * @returns the greatest probable share, if the measure has ended and that is smaller: the measured
   * share and its standard error
   */
  settled(isRejected: boolean, share: number): number | undefined {
    this.total += 1;
    if (isRejected) this.rejected += 1;
    if (this.total * share < EXPECTED && this.total < MOST_ATTEMPTS) return undefined;
    this.stop();
    const measured = this.rejected / this.total;
    const error = Math.sqrt((measured * (1 - measured)) / this.total);
    return measured + error < share ? measured + error : undefined;
  }
}
