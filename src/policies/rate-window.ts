/** The number of pieces of the window: the rate is exact to about 1 / 60 of it. */
const PIECES = 60;
/** A rate is reported from this duration on, in milliseconds. */
const LEAST_COVERED_MS = 1;

/** Counts events over a recent window, in constant memory. */
export class RateWindow {
  private readonly pieceMs: number;
  private readonly startedAt: number;
  private readonly counts = new Array<number>(PIECES).fill(0);
  /** The index of the piece with the latest count; pieces are numbered from the start. */
  private piece = 0;

  constructor(windowMs: number, now: number) {
    this.pieceMs = windowMs / PIECES;
    this.startedAt = now;
  }

  add(now: number): void {
    this.forget(now);
    const slot = this.piece % PIECES;
    this.counts[slot] = (this.counts[slot] ?? 0) + 1;
  }

  /** Events per second; undefined while the duration is too short. */
  perSecond(now: number): number | undefined {
    this.forget(now);
    const firstPiece = Math.max(0, this.piece - PIECES + 1);
    const coveredMs = now - this.startedAt - firstPiece * this.pieceMs;
    if (!(coveredMs >= LEAST_COVERED_MS)) return undefined;
    return (this.counts.reduce((sum, count) => sum + count, 0) * 1000) / coveredMs;
  }

  private forget(now: number): void {
    const piece = Math.max(this.piece, Math.floor((now - this.startedAt) / this.pieceMs));
    if (piece - this.piece >= PIECES) this.counts.fill(0);
    else for (let old = this.piece + 1; old <= piece; old++) this.counts[old % PIECES] = 0;
    this.piece = piece;
  }
}
