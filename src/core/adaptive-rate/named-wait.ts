/** Sooner than this after the first of two rejections, their waits differ by chance alone. */
const LEAST_PART = 0.2;
/** True waits are within these parts of those that are named: what differs by more is another wait. */
const MOST_SCALE = 12;
const LEAST_SCALE = 1 / 50;
/**
 * A wait that is always the same seems to fall by its jitter: that waits are too short by more than this
 * must be shown twice.
 */
const JITTER_SCALE = 4;
/** Two pairs show the same scale where they differ by no more than this. */
const SAME_SCALE = 1.5;
/** Accepted so much before the end of a wait, an attempt proves it too long: else clocks explain it. */
const EARLY_MS = 20;
const EARLY_PART = 0.9;

/** Waits that rejections name: obeyed, and corrected where they prove wrong. */
export class NamedWait {
  private readonly mostMs: number;
  private first: { readonly at: number; readonly sentAt: number; readonly ms: number } | undefined;
  /** True waits are so many times those that are named. */
  private scale = 1;
  /** A scale that was shown once. */
  private shown: number | undefined;
  private _until = Number.NEGATIVE_INFINITY;

  /** @param mostMs the longest wait that is obeyed, also where it is corrected */
  constructor(mostMs = Number.POSITIVE_INFINITY) {
    this.mostMs = mostMs;
  }

  /** Nothing is sent before this time. */
  get until(): number {
    return this._until;
  }

  /** What is let in again has ended what was named. */
  reset(): void {
    this.first = undefined;
    this._until = Number.NEGATIVE_INFINITY;
  }

  /** @param isLater whether the attempt was sent after the last reaction */
  named(ms: number, sentAt: number, now: number, isLater: boolean): void {
    const { first } = this;
    if (first !== undefined && isLater && now - first.at > LEAST_PART * first.ms) {
      // What is named falls by as much as has passed, if it is true.
      this.show((now - first.at) / (first.ms - ms));
    }
    const until = now + Math.min(ms * this.scale, this.mostMs);
    if (first === undefined || isLater) {
      this.first = { at: now, sentAt, ms };
      this._until = until;
    } else this._until = Math.max(this._until, until);
  }

  private show(scale: number): void {
    const { shown } = this;
    const isScale = scale > LEAST_SCALE && scale < MOST_SCALE;
    this.shown = isScale ? scale : undefined;
    if (!isScale) return;
    const isSame = shown !== undefined && Math.max(scale / shown, shown / scale) <= SAME_SCALE;
    if (scale <= JITTER_SCALE || isSame) this.scale = scale;
  }

  accepted(sentAt: number): void {
    const { first } = this;
    if (first === undefined || sentAt <= first.sentAt + EARLY_MS) return;
    if (sentAt >= this._until - EARLY_MS) return;
    const part = (sentAt - first.sentAt) / first.ms;
    if (part >= EARLY_PART * this.scale) return;
    this.scale = Math.max(LEAST_SCALE, part);
    this._until = sentAt;
  }
}
