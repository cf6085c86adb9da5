import type { SentAttempt } from './sent-attempt.ts';
import { SharedLimit, type SharedStop } from './shared-limit.ts';

/** The share of the measured rate that is left unused until more is tried. */
const MARGIN = 0.005;
/** The excess that is tried doubles with this many verified attempts, or with the evidence. */
export const LEAST_DOUBLING = 8;
const MOST_DOUBLING = 100;
/** The same where the rate has changed of late. */
const CHANGED_DOUBLING = 30;
/** The same where more is accepted than was measured. */
const HASTENED = 20;
/** The greatest step of the excess: verified attempts were sent at a lower pace. */
const LEAD = 1.5;
/** How soon the shortest closure is forgotten: with each further one it counts as so much longer. */
const FORGETS = 2;
/** If no more than so many times as much is accepted as in the last cycle, the growth showed nothing ... */
const SAME = 1.2;
/** ... and becomes twice as slow, up to this. */
const SLOWEST = 16;
/** After an outage as much may have been accepted as in many windows. */
const MOST_PER_WINDOW = 400;
/** No more doublings than numbers have room for. */
const MOST_DOUBLINGS = 40;

/**
 * How much more than what was measured is tried. It grows with what is verified, never with time
 * alone, and never leads far above the pace that was verified.
 */
export class RateProbing {
  /** What is tried at first, as a part of the rate. */
  excess = 0;
  /** Verified attempts with which that doubles. */
  private doubling = LEAST_DOUBLING;
  /** Attempts that are sent at the present pace before the first of them is verified. */
  private unverified = 0;
  /** Attempts that were sent at a pace and verified since the last start. */
  private verified = 0;
  /** How often the excess has doubled since the last start. */
  private doublings = 0;
  /** The highest pace that was verified since the last mark. */
  private verifiedPerMs = Number.POSITIVE_INFINITY;
  private verifiedAt = 0;
  /** Attempts from this order on belong to the present try. */
  private triedFrom = 0;
  /** What the provider may have saved up when it opened, which is no evidence. */
  private unearned = 0;
  /** How long the provider stays closed: what it saves or counts hides a higher pace as long. */
  private closedMs = 0;
  /** How many times slower it grows than the evidence says, and how much the last cycle accepted. */
  private slowness = 1;
  private lastAccepted = 0;
  /** Attempts that a window lets in; 0 if it is none. */
  private perWindow = 0;
  private readonly shared = new SharedLimit();

  /** The next tries begin with this excess, and grow the slower the more evidence there is. */
  plan(excess: number, evidence: number, hasChanged = false): void {
    this.excess = excess;
    const most = hasChanged ? CHANGED_DOUBLING : MOST_DOUBLING;
    this.doubling = Math.max(LEAST_DOUBLING, Math.min(most, evidence));
  }

  /**
   * A cycle ended with a closure. A window that forgets only later what was sent is overrun anew in
   * each cycle, and shows no rate: where the same happens again, more is tried later.
   * @param accepted attempts in the cycle
   * @param grew whether the pace had grown far beyond what was accepted
   * @param isWindow whether it was closed for long, as a window that is used up
   */
  cycled(accepted: number, grew: boolean, isWindow: boolean): void {
    const isSame = accepted <= SAME * this.lastAccepted;
    if (!grew) this.slowness = Math.max(1, this.slowness / 2);
    else this.slowness = isSame ? Math.min(SLOWEST, 2 * this.slowness) : 1;
    this.perWindow = isWindow ? Math.min(MOST_PER_WINDOW, accepted) : this.perWindow / 2;
    this.lastAccepted = accepted;
  }

  /** The provider has stopped it. Where others use the limit too, they are given room. */
  stopped(stop: SharedStop): void {
    this.shared.stopped(stop);
  }

  /**
   * Begins to try.
   * @param perMs what was measured
   * @param order attempts sent before
   * @param closedMs how long the provider was closed
   */
  start(
    perMs: number,
    at: number,
    order: number,
    unearned = this.unearned,
    closedMs = this.closedMs,
  ): void {
    this.unearned = unearned;
    // Named waits and probes lengthen a closure: of some, the shortest tells.
    this.closedMs = this.closedMs === 0 ? closedMs : Math.min(closedMs, FORGETS * this.closedMs);
    this.verifiedAt = at;
    this.verified = 0;
    this.doublings = 0;
    this.triedFrom = order;
    this.verifiedPerMs = Number.POSITIVE_INFINITY;
    this.verifiedPerMs = this.paceOf(perMs);
  }

  /** What was measured is less than the provider accepts: more is tried sooner. */
  hasten(): void {
    this.doubling = Math.min(this.doubling, HASTENED);
  }

  /** At what pace to send now, per ms. */
  paceOf(perMs: number): number {
    const grownPerMs = perMs * (1 + this.presentExcess - MARGIN);
    const pacePerMs = this.shared.paceAfter(this.verified) ?? grownPerMs;
    return Math.min(LEAD * this.verifiedPerMs, pacePerMs);
  }

  private get presentExcess(): number {
    return this.excess * 2 ** Math.min(MOST_DOUBLINGS, this.doublings);
  }

  /** @param horizonMs within which rejections come back; Infinity: none was seen */
  accepted({ at, order, isPaced, pacePerMs }: SentAttempt, horizonMs: number): void {
    if (!isPaced || order < this.triedFrom) return;
    const silenceMs = horizonMs === Number.POSITIVE_INFINITY ? 0 : horizonMs;
    const isKnown = pacePerMs !== Number.POSITIVE_INFINITY;
    if (isKnown) this.unverified = pacePerMs * silenceMs;
    this.verified += 1;
    // Of a faster growth nothing would be known before it is far too fast. It slows down as it leads
    // away from what was measured.
    const lead = 1 + this.presentExcess - this.excess;
    // Only its end shows that a window is overrun: in the first one the excess doubles once at most, in
    // the next one twice, and so on. Else processes that share it race for it, and most of them lose.
    const perWindow = this.perWindow / 2 ** Math.min(MOST_DOUBLINGS, this.doublings);
    const doubling = this.slowness * lead * Math.max(this.doubling, this.unverified, perWindow);
    if (this.verified > this.unearned) this.doublings += 1 / doubling;
    if (!isKnown) return;
    // A higher pace is verified when its rejections would have returned.
    if (at < this.verifiedAt + Math.max(silenceMs, this.closedMs)) return;
    this.verifiedAt = at;
    this.verifiedPerMs = Math.max(this.verifiedPerMs, pacePerMs);
  }
}
