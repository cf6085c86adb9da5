/** Fewer waits than this are on a line by chance. */
const LEAST = 8;
/** The part of their variance that the line must explain: more is left by other causes than time. */
const EXPLAINED = 0.9;
/** Waits that are multiples of this may be rounded, and do not count. */
const ROUNDED_MS = 1_000;

/**
 * The line through the waits that one closure names, over the times of sending: a true wait falls by
 * the time that passes, one that is ten times too long falls ten times faster (least squares).
 */
export class WaitLine {
  private count = 0;
  private meanAt = 0;
  private meanMs = 0;
  private varianceAt = 0;
  private varianceMs = 0;
  private covariance = 0;
  private firstAt = Number.POSITIVE_INFINITY;
  private shortestMs = Number.POSITIVE_INFINITY;
  private longestMs = 0;

  add(sentAt: number, ms: number): void {
    if (ms % ROUNDED_MS === 0) return;
    this.count += 1;
    const at = sentAt - this.meanAt;
    const wait = ms - this.meanMs;
    this.meanAt += at / this.count;
    this.meanMs += wait / this.count;
    this.varianceAt += at * (sentAt - this.meanAt);
    this.varianceMs += wait * (ms - this.meanMs);
    this.covariance += at * (ms - this.meanMs);
    this.firstAt = Math.min(this.firstAt, sentAt);
    this.shortestMs = Math.min(this.shortestMs, ms);
    this.longestMs = Math.max(this.longestMs, ms);
  }

  /**
   * The true wait as a multiple of the named one.
   * @param now when the last wait was named
   * @returns undefined where the waits are not on a line, or the way there may explain it
   */
  scaleAt(now: number): number | undefined {
    const { covariance } = this;
    if (this.count < LEAST || covariance >= 0) return undefined;
    if (covariance ** 2 < EXPLAINED * this.varianceAt * this.varianceMs) return undefined;
    const fallMs = this.longestMs - this.shortestMs;
    const scale = this.varianceAt / -covariance;
    // Attempts may queue on their way: only a fall by more than all the time there was shows too long a wait.
    return scale >= 1 || fallMs > now - this.firstAt ? scale : undefined;
  }
}
