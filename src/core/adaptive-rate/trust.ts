/** What may be sent at once while nothing is known. */
export const START_AT_ONCE = 16;
/** What each accepted attempt earns: what is out may double with what was verified. */
const EARNED = 2;
/**
 * What a rejection of something sent after the last reaction costs: so many accepted attempts must
 * make up for it that no more than one in twenty is rejected for long.
 */
const LATER_REJECTION = 18;
/** What a rejection of something that was out already costs. */
const EARLIER_REJECTION = 2;

/**
 * How many attempts may be sent before more is verified. It bounds rejections whatever is believed of
 * the provider: each attempt uses one up, accepted ones earn two, rejections cost many. Where nothing
 * is let in, nothing is left of it, and attempts go one by one, each after the last is known.
 */
export class Trust {
  private left: number;

  constructor(left = START_AT_ONCE) {
    this.left = left;
  }

  get mayGo(): boolean {
    return this.left >= 1;
  }

  spend(): void {
    this.left = Math.max(0, this.left - 1);
  }

  /** What was spent for an attempt that tells nothing. */
  giveBack(): void {
    this.left += 1;
  }

  /** @param most of what may be kept: without rejections there is no bound */
  earn(most: number): void {
    this.left = Math.min(this.left + EARNED, Math.max(START_AT_ONCE, most));
  }

  /** @param isLater whether it was sent after the last reaction */
  lose(isLater: boolean): void {
    if (isLater) this.left = Math.min(this.left, START_AT_ONCE);
    this.left = Math.max(0, this.left - (isLater ? LATER_REJECTION : EARLIER_REJECTION));
  }
}
