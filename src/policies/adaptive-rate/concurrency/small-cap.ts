import type { SentAttempt } from '../attempts/sent-attempt.ts';

/**
 * The number of stops that must look like those of a cap. With a rate that rejects one attempt in
 * twenty, this many do so by chance once in 100,000 times.
 */
const STOPS = 4;
/**
 * The least number of attempts accepted among the stops, and the same as a multiple of the cap: the
 * cap was full again.
 */
const LEAST_ACCEPTED = 16;
const LEAST_TIMES = 4;

/**
 * Finds a concurrency cap, however small, by its rejections: it rejects at least every second
 * attempt that was sent with as many others in flight, and no other attempts. It accepts the rest
 * because an answer was on its way when they were sent. A rate rejects a few of all attempts,
 * however many are in flight.
 */
export class SmallCap {
  /** The stops, and the least number of others in flight at one of them. */
  private stops = 0;
  private lowest = 0;
  /**
   * Attempts accepted since the first stop: all, and those with at least `lowest` others in flight.
   */
  private accepted = 0;
  private over = 0;
  /** Whether the last attempt was rejected: of rejections in a row only the first counts. */
  private isStopped = false;

  /**
   * Takes the attempts in the order of sending.
   * @param others how many others the provider served when it was sent
   * @returns the cap, if there is one
   */
  settled({ outcome, mayBeByCap }: SentAttempt, others: number): number | undefined {
    if (outcome === 'accepted') {
      this.isStopped = false;
      this.accepted += 1;
      if (others >= this.lowest) this.over += 1;
    } else if (outcome === 'rejected' && !this.isStopped) {
      this.isStopped = true;
      if (!mayBeByCap || others < this.lowest || this.over > this.stops) this.stops = 0;
      if (this.stops === 0) {
        this.lowest = others;
        this.accepted = 0;
        this.over = 0;
      }
      // A cap never rejects an attempt that has no others in flight.
      if (mayBeByCap && others > 0) this.stops += 1;
      const least = Math.max(LEAST_ACCEPTED, LEAST_TIMES * this.lowest);
      if (this.stops >= STOPS && this.accepted >= least) return this.lowest;
    }
    return undefined;
  }
}
