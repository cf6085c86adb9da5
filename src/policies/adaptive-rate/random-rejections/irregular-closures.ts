import {
  acceptedPerMs,
  isPaced,
  isSingle,
  joined,
  type RejectionStage,
  shareOf,
} from './rejection-stage.ts';

/** So many closures are compared with each other, at least and at most. */
const LEAST = 3;
const MOST = 6;
/** Above this share of rejections, there is another cause. */
const MOST_SHARE = 0.1;
/** Their durations differ by less: the waits that a limit names depend on when it was used up. */
const ALIKE = 1.1;
/**
 * A closure is early if less than these parts of the mean number, and of the mean rate, were
 * accepted before it.
 */
const FEW = 0.5;
const SLOW = 0.6;

/**
 * Finds long closures that are not like those of a limit: all last equally long, and one of them
 * began early, when less was accepted since the one before than in their mean.
 */
export class IrregularClosures {
  private startedAt = 0;
  private settledAt = 0;
  private total = 0;
  private rejected = 0;
  /** When the last attempt was rejected, and how long the closures lasted. */
  private rejectedAt = 0;
  private shortestMs = Number.POSITIVE_INFINITY;
  private longestMs = 0;
  /** The attempts from each closure to the next. */
  private cycles: RejectionStage[] = [];

  restart(): void {
    this.total = 0;
    this.rejected = 0;
    this.cycles = [];
    this.shortestMs = Number.POSITIVE_INFINITY;
    this.longestMs = 0;
  }

  settled(isRejected: boolean, at: number): void {
    if (this.total === 0) this.startedAt = at;
    this.settledAt = at;
    this.total += 1;
    if (isRejected) {
      this.rejected += 1;
      this.rejectedAt = at;
    }
  }

  /**
   * A closure has ended.
   * @param perMs the pace of its first attempt
   * @returns all attempts of these closures, if they are irregular
   */
  stopped(perMs: number): RejectionStage | undefined {
    const { cycles, total, rejected } = this;
    const closedMs = this.settledAt - this.rejectedAt;
    this.shortestMs = Math.min(this.shortestMs, closedMs);
    this.longestMs = Math.max(this.longestMs, closedMs);
    cycles.push({
      perMs,
      ms: Math.max(1, this.settledAt - this.startedAt),
      total,
      rejected,
      stops: 1,
    });
    this.total = 0;
    this.rejected = 0;
    if (cycles.length < LEAST) return undefined;
    const isFound = this.longestMs < ALIKE * this.shortestMs && isIrregular(cycles);
    if (isFound || cycles.length === MOST) this.restart();
    return isFound ? joined(cycles) : undefined;
  }
}

function isIrregular(cycles: readonly RejectionStage[]): boolean {
  const all = joined(cycles);
  if (isPaced(all) || shareOf(all) > MOST_SHARE || !isSingle(all)) return false;
  const mean = (all.total - all.rejected) / cycles.length;
  return cycles.some(
    (cycle) =>
      cycle.total - cycle.rejected < FEW * mean && acceptedPerMs(cycle) < SLOW * acceptedPerMs(all),
  );
}
