/** Who is let in for less than this part of a limit that is used up shares it with others. */
const SHARED_PART = 0.8;
/** Then, at each stop, this part of one's own pace is given up ... */
const GIVEN_UP = 0.15;
/** ... and each verified attempt adds this part of the whole limit. */
const ADDED = 1.5e-4;
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
 * One's own pace where others use the same limit, told by rejections that report it as used up while
 * one's own rate is well below it. All that share it are stopped equally often for each attempt. So
 * what each adds for an attempt must not depend on its own share, and what it gives up at a stop must
 * be in proportion to that: then shares become alike (Chiu and Jain 1989: additive increase and
 * multiplicative decrease).
 */
export class SharedLimit {
  private wholePerMs = 0;
  private basePerMs = 0;

  stopped({ usedUpPerMs, pacePerMs, perMs, isSure }: SharedStop): void {
    const isSharing = this.wholePerMs > 0 || isSure;
    this.wholePerMs = isSharing && perMs < SHARED_PART * usedUpPerMs ? usedUpPerMs : 0;
    this.basePerMs = (1 - GIVEN_UP) * Math.min(pacePerMs, MOST_ABOVE * perMs);
  }

  /** @returns undefined if nobody else is known to use it */
  paceAfter(verified: number): number | undefined {
    if (this.wholePerMs === 0) return undefined;
    return this.basePerMs + ADDED * this.wholePerMs * verified;
  }
}
