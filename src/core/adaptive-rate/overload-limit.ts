/** Requests in flight at first. */
export const DEFAULT_START_CONCURRENCY = 64;
/** By which the limit grows in a second until the first overload. */
const START_GROWTH = 2;
/** Of what was in flight when the provider was overloaded, what is sent. */
const MARGIN = 0.95;
/** From an overload to the next try of more; it doubles as long as nothing has changed. */
const HOLD_MS = 20_000;
const LONGEST_HOLD_MS = 320_000;
/** Overloads closer together than this may be the beginning of one outage. */
const ONE_OUTAGE_MS = 5_000;
/** A smaller difference is none. */
const SAME = 0.1;
/** The excess that is tried first; it doubles every {@link PROBE_DOUBLING_MS}. */
const PROBE_STEP = 0.02;
/** However long nobody asked: what nobody has used tells nothing. */
const LONGEST_STEP_MS = 1_000;
const PROBE_DOUBLING_MS = 2_000;
/** ... and faster after a shorter time than this many of it: what is not sure is found out soon. */
const HELD_DOUBLINGS = 4;
/** ... up to whatever is allowed: a lone request that was turned away says little. */
const MOST_DOUBLINGS = 30;

/**
 * How many attempts may be in flight: grows until the provider says that it is overloaded (503, 529),
 * then stays a little below what was in flight, and now and then tries more.
 */
export class OverloadLimit {
  #max: number;
  #open: number;
  /** What was too much; undefined until the first overload. */
  #ceiling: number | undefined = undefined;
  /** What it was before the last overloads that belong together. */
  #before: number | undefined = undefined;
  #holdMs = HOLD_MS;
  #holdUntil = Number.NEGATIVE_INFINITY;
  #askedAt: number;
  /** For how long more was tried since the last overload. */
  #triedMs = 0;
  #cutAt = Number.NEGATIVE_INFINITY;

  constructor(start: number, max: number, now: number) {
    this.#max = max;
    this.#open = Math.min(start, max);
    this.#askedAt = now;
  }

  get max(): number {
    return this.#max;
  }

  /** What was too much; undefined: nothing was, so far. */
  get ceiling(): number | undefined {
    return this.#ceiling;
  }

  /** What may be in flight while no more is tried. */
  get held(): number {
    return Math.max(1, Math.ceil((this.#ceiling ?? this.#max) * MARGIN));
  }

  /** Whether what was sent then could not know of the last overload. */
  isLate(sentAt: number): boolean {
    return sentAt <= this.#cutAt;
  }

  setMax(max: number): void {
    if (this.#open >= this.#max) this.#open = max;
    this.#max = max;
  }

  /** @param isBound whether as many were in flight as may be, since it was last asked */
  limitAt(now: number, isBound: boolean): number {
    const grownMs = Math.min(now - this.#askedAt, LONGEST_STEP_MS);
    this.#askedAt = now;
    if (this.#ceiling === undefined) {
      if (isBound) this.#open = Math.min(this.#max, this.#open * START_GROWTH ** (grownMs / 1_000));
      return Math.min(this.#max, Math.floor(this.#open));
    }
    if (isBound && now > this.#holdUntil) {
      this.#triedMs += Math.min(grownMs, now - this.#holdUntil);
    }
    if (this.#triedMs === 0) return Math.min(this.#max, this.held);
    const doublingMs = Math.min(PROBE_DOUBLING_MS, this.#holdMs / HELD_DOUBLINGS);
    const excess = PROBE_STEP * 2 ** Math.min(this.#triedMs / doublingMs, MOST_DOUBLINGS);
    return Math.min(this.#max, Math.ceil(this.#ceiling * (1 + excess)));
  }

  /** What was taken for an overload was an outage: the limit is what it was. */
  forgive(): void {
    this.#ceiling = this.#before;
    this.#holdUntil = Number.NEGATIVE_INFINITY;
  }

  /**
   * An attempt that was sent at `sentAt` met an overload.
   * @param inFlight attempts when it was sent, itself included
   * @param left attempts that are in flight still; Infinity: that is not known
   * @param holdMs until more is tried, where it was not the same before
   */
  overloaded(
    sentAt: number,
    inFlight: number,
    now: number,
    left = Number.POSITIVE_INFINITY,
    holdMs = HOLD_MS,
  ): void {
    // What was sent before the last cut tells no more than how many of those were too many.
    if (this.isLate(sentAt)) {
      // Those that have ended meanwhile were not: no fewer fit than were there before this one.
      const fitted = Math.max(1, inFlight - 1, left);
      if (this.#ceiling !== undefined) this.#ceiling = Math.min(this.#ceiling, fitted);
      return;
    }
    const before = this.#ceiling;
    if (now - this.#cutAt > ONE_OUTAGE_MS) this.#before = before;
    this.#ceiling = Math.max(1, inFlight - 1);
    const isSame = before !== undefined && Math.abs(this.#ceiling - before) <= SAME * before + 1;
    // Only what was tried has confirmed it: what comes sooner says that it falls.
    const isConfirmed = isSame && now >= this.#holdUntil;
    this.#holdMs = isConfirmed ? Math.min(LONGEST_HOLD_MS, this.#holdMs * 2) : holdMs;
    this.#holdUntil = now + this.#holdMs;
    this.#triedMs = 0;
    this.#cutAt = now;
  }
}
