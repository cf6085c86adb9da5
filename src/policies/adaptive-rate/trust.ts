/** How many attempts may be sent at once while nothing is known. */
export const START_AT_ONCE = 16;
/** The same once a limit is reported: it bounds what is sent, unless it is not the only one. */
export const TOLD_AT_ONCE = 128;
/**
 * The number that an accepted attempt earns: the number in flight may double with verified
 * attempts.
 */
const EARNED = 2;
/** The cost of a rejected attempt that was in flight at the last reaction. */
const EARLIER_REJECTION = 2;

/**
 * How many attempts may be sent before more is verified. It bounds rejections even if the estimate
 * is wrong: each attempt uses one up, an accepted one earns two, and a rejection costs some,
 * or all of them if the attempt was sent after the last reaction. When none is left, attempts are
 * sent one by one, each after the result of the last.
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

  /** How many attempts may be sent. */
  get size(): number {
    return Math.floor(this.left);
  }

  /** Returns what was spent on an attempt without a result. */
  giveBack(): void {
    this.left += 1;
  }

  /** At least this many may be sent. */
  permit(least: number): void {
    this.left = Math.max(this.left, least);
  }

  /** @param most the greatest amount kept */
  earn(most: number): void {
    this.left = Math.min(this.left + EARNED, Math.max(START_AT_ONCE, most));
  }

  /** @param isLater whether it was sent after the last reaction */
  lose(isLater: boolean): void {
    this.left = isLater ? 0 : Math.max(0, this.left - EARLIER_REJECTION);
  }
}
