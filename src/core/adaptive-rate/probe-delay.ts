/** The shortest gap: servers that reject at once are not asked in a loop. */
const SHORTEST_MS = 100;
/** Gaps between single probes grow by this, from one that was rejected to the next. */
const GROWTH = 1.6;
/** ... up to this, or so many times the mean interval of what was accepted, if that is longer. */
const LONGEST_MS = 30_000;
const LONGEST_INTERVALS = 4;

/** How long to wait between two probes while the provider lets nothing in. */
export class ProbeDelay {
  private rejected = 0;

  /** Probes in a row that were rejected. */
  get count(): number {
    return this.rejected;
  }

  reset(): void {
    this.rejected = 0;
  }

  /**
   * A probe was rejected.
   * @param horizonMs within which rejections come back
   * @param intervalMs between what was accepted, on average
   * @returns milliseconds until the next
   */
  next(horizonMs: number, intervalMs: number): number {
    const firstMs = Math.max(SHORTEST_MS, horizonMs / 2, Math.min(intervalMs, LONGEST_MS));
    const gapMs = firstMs * GROWTH ** this.rejected;
    this.rejected += 1;
    return Math.min(gapMs, Math.max(LONGEST_MS, LONGEST_INTERVALS * intervalMs));
  }
}
