import { acceptedPerMs, isPaced, joined, type RejectionStage, shareOf } from './rejection-stage.ts';

/** So many closures are compared with each other, at least and at most. */
const LEAST = 3;
const MOST = 6;
/** Rejections by chance are single: a closure has no more on average. A greater share has a cause. */
const SINGLE = 1.5;
const MOST_SHARE = 0.1;
/** A closure is early if less than these parts of the mean number, and of the mean rate, were accepted. */
const FEW = 0.5;
const SLOW = 0.6;

/**
 * Finds long closures that are not like those of a limit: one of them began early, when less was
 * accepted since the one before than in their mean.
 */
export class IrregularClosures {
  private startedAt = 0;
  private settledAt = 0;
  private total = 0;
  private rejected = 0;
  /** The attempts from each closure to the next. */
  private cycles: RejectionStage[] = [];

  restart(): void {
    this.total = 0;
    this.rejected = 0;
    this.cycles = [];
  }

  settled(isRejected: boolean, at: number): void {
    if (this.total === 0) this.startedAt = at;
    this.settledAt = at;
    this.total += 1;
    if (isRejected) this.rejected += 1;
  }

  /**
   * A closure has ended.
   * @param perMs the pace of its first attempt
   * @returns all attempts of these closures, if they are irregular
   */
  stopped(perMs: number): RejectionStage | undefined {
    const { cycles, total, rejected } = this;
    cycles.push({ perMs, ms: Math.max(1, this.settledAt - this.startedAt), total, rejected });
    this.total = 0;
    this.rejected = 0;
    if (cycles.length < LEAST) return undefined;
    const isFound = isIrregular(cycles);
    if (isFound || cycles.length === MOST) this.cycles = [];
    return isFound ? joined(cycles) : undefined;
  }
}

function isIrregular(cycles: readonly RejectionStage[]): boolean {
  const all = joined(cycles);
  if (isPaced(all) || shareOf(all) > MOST_SHARE || all.rejected > SINGLE * cycles.length)
    return false;
  const mean = (all.total - all.rejected) / cycles.length;
  return cycles.some(
    (cycle) =>
      cycle.total - cycle.rejected < FEW * mean && acceptedPerMs(cycle) < SLOW * acceptedPerMs(all),
  );
}
