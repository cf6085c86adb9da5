/** So many numbers in a row are regular if they differ by less than this factor. */
const STOPS = 8;
const ALIKE = 1.15;
/** Smaller numbers may be alike by chance. */
const LEAST = 4;

/**
 * Finds rejections that are too regular to be by chance: a window admits the same number of attempts
 * each time. By chance these numbers differ widely (they have a geometric distribution, and eight in
 * a row are so much alike less than once in 1,000,000 times).
 */
export class RegularStops {
  private accepted = 0;
  private least = 0;
  private most = 0;
  private alike = 0;

  settled(isRejected: boolean): void {
    if (!isRejected) this.accepted += 1;
  }

  /**
   * Attempts were rejected.
   * @returns whether about as many attempts were accepted before each of the last rejections
   */
  stopped(): boolean {
    const { accepted } = this;
    this.accepted = 0;
    const least = Math.min(this.least, accepted);
    const most = Math.max(this.most, accepted);
    const isAlike = least >= LEAST && most < ALIKE * least;
    this.least = isAlike ? least : accepted;
    this.most = isAlike ? most : accepted;
    this.alike = isAlike ? this.alike + 1 : 1;
    if (this.alike < STOPS) return false;
    this.alike = 0;
    return true;
  }
}
