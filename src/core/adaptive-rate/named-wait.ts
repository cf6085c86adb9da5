/** Sooner than this after the first of two rejections, their waits differ by chance alone. */
const LEAST_PART = 0.2;
/** Waits are too short by no more than this: what fell by less is another wait. */
const MOST_SCALE = 12;
/** ... and too long by no more than this. */
const LEAST_SCALE = 1 / 50;
/** Accepted so much before the end of a wait, an attempt proves it too long: else clocks explain it. */
const EARLY_MS = 20;
const EARLY_PART = 0.9;

/** Waits that rejections name: obeyed, and corrected where they prove wrong. */
export class NamedWait {
  private first: { readonly at: number; readonly sentAt: number; readonly ms: number } | undefined;
  /** True waits are so many times those that are named. */
  private scale = 1;
  private _until = Number.NEGATIVE_INFINITY;

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
      const fell = (first.ms - ms) / (now - first.at);
      if (fell > 1 / MOST_SCALE && fell < 1 / LEAST_SCALE) this.scale = 1 / fell;
    }
    if (first === undefined || isLater) {
      this.first = { at: now, sentAt, ms };
      this._until = now + ms * this.scale;
    } else this._until = Math.max(this._until, now + ms * this.scale);
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
