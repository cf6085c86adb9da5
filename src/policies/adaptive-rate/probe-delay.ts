/** The shortest gap, so that a server that rejects at once is not asked in a loop. */
const SHORTEST_MS = 100;
/** The growth of the gap between single probes after each rejected one ... */
const GROWTH = 1.6;
/** ... and while they are at most this share of what the provider accepts, so that they cost nothing. */
const SLOW_GROWTH = 1.3;
const FEW_PART = 0.002;
/** ... and from this gap on, which is as many in a minute as are no flood. */
const LATE_GROWTH = 1.1;
const LATE_MS = 10_000;
/**
 * ... up to this, or to this multiple of the mean interval between accepted attempts, if that is
 * longer: where rejections count, probes that come sooner would keep the provider closed for ever.
 */
const LONGEST_MS = 30_000;
const LONGEST_INTERVALS = 4;

/** The gap between two probes while the provider rejects everything. */
export class ProbeDelay {
  private rejected = 0;
  /** The growth so far. */
  private grown = 1;

  /** Consecutive rejected probes. */
  get count(): number {
    return this.rejected;
  }

  reset(): void {
    this.rejected = 0;
    this.grown = 1;
  }

  /**
   * A probe was rejected.
   * @param horizonMs the time within which rejections return
   * @param intervalMs the interval between accepted attempts at the measured rate
   * @param meanMs the mean interval between those that were accepted, this closure included
   * @returns milliseconds until the next probe
   */
  next(horizonMs: number, intervalMs: number, meanMs = intervalMs): number {
    const firstMs = Math.max(SHORTEST_MS, horizonMs / 2, Math.min(intervalMs, LONGEST_MS));
    const gapMs = firstMs * this.grown;
    this.rejected += 1;
    const isCheap = 0 < intervalMs && intervalMs < FEW_PART * gapMs;
    this.grown *= !isCheap ? GROWTH : gapMs < LATE_MS ? SLOW_GROWTH : LATE_GROWTH;
    const longestMs = LONGEST_INTERVALS * Math.max(intervalMs, meanMs);
    return Math.min(gapMs, Math.max(LONGEST_MS, longestMs));
  }
}
