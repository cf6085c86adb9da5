/** The shortest gap, so that a server that rejects at once is not asked in a loop. */
const SHORTEST_MS = 100;
/** The growth of the gap after each rejected probe. */
const GROWTH = 1.6;
/**
 * The growth while probes are at most this share of what the provider accepts, and so cost little.
 */
const SLOW_GROWTH = 1.3;
const FEW_PART = 0.002;
/** The growth of such gaps from this one on: six probes a minute are not too many. */
const LATE_GROWTH = 1.1;
const LATE_MS = 10_000;
/**
 * The longest gap: this time, or this multiple of the mean interval between accepted attempts if
 * that is longer. Where the provider counts rejected requests, more probes would keep it closed for
 * ever.
 */
const LONGEST_MS = 30_000;
const LONGEST_INTERVALS = 4;
/**
 * After this many probes the multiple grows with each one, up to this factor: where the provider
 * counts rejected requests, it accepts a large one only after a longer time.
 */
const EARLY_PROBES = 8;
const INTERVALS_GROWTH = 1.05;
const MOST_GROWN = 10;

/** The gap between two probes while the provider rejects everything. */
export class ProbeDelay {
  private rejected = 0;
  /** The growth so far. */
  private grown = 1;
  /** The interval between accepted attempts at the first probe. */
  private firstIntervalMs = 0;

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
   * @param meanMs the mean interval between accepted attempts, including the time of this closure
   * @returns milliseconds until the next probe
   */
  next(horizonMs: number, intervalMs: number, meanMs = intervalMs): number {
    // Later intervals may contain the time of the probes.
    if (this.rejected === 0) this.firstIntervalMs = intervalMs;
    const firstMs = Math.max(
      SHORTEST_MS,
      horizonMs / 2,
      Math.min(this.firstIntervalMs, LONGEST_MS),
    );
    const gapMs = firstMs * this.grown;
    this.rejected += 1;
    const isCheap = 0 < intervalMs && intervalMs < FEW_PART * gapMs;
    this.grown *= !isCheap ? GROWTH : gapMs < LATE_MS ? SLOW_GROWTH : LATE_GROWTH;
    const late = Math.max(0, this.rejected - EARLY_PROBES);
    const intervals = LONGEST_INTERVALS * Math.min(MOST_GROWN, INTERVALS_GROWTH ** late);
    return Math.min(gapMs, Math.max(LONGEST_MS, intervals * Math.max(intervalMs, meanMs)));
  }
}
