/** Of so many calls the shortest counts: a single slow one changes nothing. */
const RECENT = 3;
/** How far two clocks may drift apart, as a part of the time: NTP corrects clocks by 500 ppm at most. */
const DRIFT = 0.0005;
/** Below this difference, in ms, times count as equal: calls and timers are no more precise. */
const EQUAL_MS = 1;

/** A reply of the store, and when its call was made. */
interface Times {
  /** The store's time, in microseconds. */
  readonly storeNow: number;
  /** The incarnation of the store. */
  readonly run: number;
  /** What the slowest calls of all workers take, in microseconds. */
  readonly slowest: number;
  readonly sentAt: number;
  readonly now: number;
}

/**
 * Tells when amounts that are due in the store's time are used in the worker's time: later by half
 * of what the slowest calls of all workers take, so that replies arrive before. This is the same for
 * all workers and all calls. If each grant counted from its own reply, grants of a slow reply would
 * be used together with later ones of a fast reply, and a window could get more than the limit.
 */
export class CallTimes {
  /** What calls take at least of late, in ms. */
  tookMs = 0;
  private run = 0;
  /** The worker's time minus the store's, in ms, is between these. */
  private least = Number.NEGATIVE_INFINITY;
  private most = Number.POSITIVE_INFINITY;
  private readAt = 0;
  private took: number[] = [];

  /** @returns how long after the reply the amounts that were due then are used; below 0: before */
  answered({ storeNow, run, slowest, sentAt, now }: Times): number {
    const storeMs = storeNow / 1_000;
    const drift = DRIFT * (now - this.readAt);
    this.readAt = now;
    const least = sentAt - storeMs;
    const most = now - storeMs;
    this.least = Math.max(this.least - drift, least);
    this.most = Math.min(this.most + drift, most);
    // The store is a new one, or its clock has stepped.
    if (run !== this.run || this.least > this.most + EQUAL_MS) {
      this.run = run;
      this.least = least;
      this.most = most;
    }
    this.took = [now - sentAt, ...this.took].slice(0, RECENT);
    this.tookMs = Math.min(...this.took);
    // The store does not know yet what the first calls of this worker take.
    const slowestMs = Math.max(slowest / 1_000, this.tookMs);
    const lagMs = (this.least + this.most + slowestMs) / 2 - most;
    return Math.abs(lagMs) < EQUAL_MS ? 0 : lagMs;
  }
}
