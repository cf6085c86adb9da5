/** A process whose rate is below this part of a limit that is used up shares it with others. */
const SHARED_PART = 0.8;
/** At each stop such a process gives up this part of its pace ... */
const GIVEN_UP = 0.1;
/** ... and each verified attempt adds this part of the whole limit to it. */
const ADDED = 2e-4;
/** The pace to begin from is at most so far above what was measured. */
const MOST_ABOVE = 1.5;

/** A stop, and what was measured by then. */
export interface SharedStop {
  /** The rate of the whole limit, per ms, if a report says that it is used up; else 0. */
  readonly usedUpPerMs: number;
  /** The pace at which it came, per ms. */
  readonly pacePerMs: number;
  /** What was measured, per ms, ... */
  readonly perMs: number;
  /** ... and whether enough attempts are behind that. */
  readonly isSure: boolean;
}

/**
 * The pace of a process while other processes use the same limit. Rejections that report the limit as
 * used up, while the process's own rate is well below it, show that. All processes are stopped equally
 * often for each attempt. So what an attempt adds must not depend on the process's share, and what a
 * stop takes must be in proportion to it: then shares become alike (Chiu and Jain 1989: additive
 * increase and multiplicative decrease).
 */
export class SharedLimit {
  private wholePerMs = 0;
  private basePerMs = 0;

  stopped({ usedUpPerMs, pacePerMs, perMs, isSure }: SharedStop): void {
    const isSharing = this.wholePerMs > 0 || isSure;
    this.wholePerMs = isSharing && perMs < SHARED_PART * usedUpPerMs ? usedUpPerMs : 0;
    // Where little is left, reports hold the pace far below what was measured.
    const sharePerMs = Math.max(perMs, Math.min(pacePerMs, MOST_ABOVE * perMs));
    this.basePerMs = (1 - GIVEN_UP) * sharePerMs;
  }

  /** @returns the pace, per ms; undefined if no other process is known to use the limit */
  paceAfter(verified: number): number | undefined {
    if (this.wholePerMs === 0) return undefined;
    return this.basePerMs + ADDED * this.wholePerMs * verified;
  }
}
