/** A process whose rate is below this share of a used-up limit shares the limit with others. */
const SHARED_PART = 0.8;
/** At each stop such a process gives up this share of its pace. */
const GIVEN_UP = 0.1;
/** Each verified attempt adds this share of the whole limit to the pace. */
const ADDED = 2e-4;
/** The pace after a stop starts from at most this multiple of the measured rate. */
const MOST_ABOVE = 1.5;

/** A stop, and what was measured by then. */
export interface SharedStop {
  /** The rate of the whole limit, per ms, if a report says that it is used up; else 0. */
  readonly usedUpPerMs: number;
  /** The pace at which it came, per ms. */
  readonly pacePerMs: number;
  /** The measured rate, per ms. */
  readonly perMs: number;
  /** Whether enough attempts are behind the measured rate. */
  readonly isSure: boolean;
}

/**
 * The pace of a process while other processes use the same limit. This is the case if rejections
 * report the limit as used up while the process's own rate is well below it. All processes are
 * stopped equally often for each attempt. So the amount that an attempt adds must not depend on the
 * process's share, and the amount that a stop takes must be in proportion to it: then shares become
 * equal (Chiu and Jain 1989: additive increase and multiplicative decrease).
 */
export class SharedLimit {
  private wholePerMs = 0;
  private basePerMs = 0;

  stopped({ usedUpPerMs, pacePerMs, perMs, isSure }: SharedStop): void {
    const isSharing = this.wholePerMs > 0 || isSure;
    this.wholePerMs = isSharing && perMs < SHARED_PART * usedUpPerMs ? usedUpPerMs : 0;
    // When little is left, reported limits hold the pace far below the measured rate.
    const sharePerMs = Math.max(perMs, Math.min(pacePerMs, MOST_ABOVE * perMs));
    this.basePerMs = (1 - GIVEN_UP) * sharePerMs;
  }

  /** The limit has changed by a factor. */
  scale(factor: number): void {
    this.wholePerMs *= factor;
    this.basePerMs *= factor;
  }

  /** @returns the pace, per ms; undefined if no other process is known to use the limit */
  paceAfter(verified: number): number | undefined {
    if (this.wholePerMs === 0) return undefined;
    return this.basePerMs + ADDED * this.wholePerMs * verified;
  }
}
