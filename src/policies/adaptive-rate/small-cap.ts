import type { SentAttempt } from './sent-attempt.ts';

/**
 * How many stops must look like those of a cap: of a rate, at which one in twenty is rejected, so many
 * do so by chance once in 100,000 times.
 */
const STOPS = 4;
/** So many attempts must be accepted among the stops, and so many times the cap: it was full again. */
const LEAST_ACCEPTED = 16;
const LEAST_TIMES = 4;

/**
 * Finds a cap on what is in flight, however small it is, by what it rejects: of the attempts that were sent with as
 * many others in flight, at least every second, and none of the others. A rate rejects a few of them,
 * however many were in flight. Those that a cap accepts were sent when an answer was on its way.
 */
export class SmallCap {
  /** The stops, and the least number of others in flight at one of them. */
  private stops = 0;
  private lowest = 0;
  /** Attempts accepted since the first of them: all, and with as many others in flight. */
  private accepted = 0;
  private over = 0;
  /** Whether the last attempt was rejected: of rejections in a row only the first tells of a cap. */
  private isStopped = false;

  /**
   * Takes the attempts in the order of sending.
   * @param others how many others the provider served when it was sent
   * @returns the cap, if there is one
   */
  settled({ outcome, isBare }: SentAttempt, others: number): number | undefined {
    if (outcome === 'accepted') {
      this.isStopped = false;
      this.accepted += 1;
      if (others >= this.lowest) this.over += 1;
    } else if (outcome === 'rejected' && !this.isStopped) {
      this.isStopped = true;
      if (!isBare || others < this.lowest || this.over > this.stops) this.stops = 0;
      if (this.stops === 0) {
        this.lowest = others;
        this.accepted = 0;
        this.over = 0;
      }
      // A cap rejects nothing that comes alone.
      if (isBare && others > 0) this.stops += 1;
      const least = Math.max(LEAST_ACCEPTED, LEAST_TIMES * this.lowest);
      if (this.stops >= STOPS && this.accepted >= least) return this.lowest;
    }
    return undefined;
  }
}
