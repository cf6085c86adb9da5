import type { SentAttempt } from '../attempts/sent-attempt.ts';
import { type EndedClosure, HeldPace } from './held-pace.ts';
import { RepeatedOverrun } from './repeated-overrun.ts';
import { SharedLimit, type SharedStop } from './shared-limit.ts';

/** The share of the measured rate that is left unused until more is tried. */
const MARGIN = 0.005;
/**
 * The excess doubles after as many verified attempts as the rate has evidence, within these bounds.
 */
export const LEAST_DOUBLING = 8;
const MOST_DOUBLING = 100;
/** The upper bound if the rate has changed lately. */
const CHANGED_DOUBLING = 30;
/** The lower bound if rejections by chance hide for some time that the pace is too high. */
const HIDDEN_DOUBLING = 40;
/** The number if the rate has fallen far: at a rate of minutes, recovery would take hours. */
const FALLEN_DOUBLING = 4;
/** The upper bound if the provider accepts more than was measured. */
const HASTENED = 20;
/** The pace is at most this multiple of the highest verified pace. */
const LEAD = 1.5;
/** At each further closure, the shortest closure so far counts as longer by this factor. */
const FORGETS = 2;
/**
 * The most attempts that a window is taken to admit: after an outage, a cycle may have many
 * windows.
 */
const MOST_PER_WINDOW = 400;
/** The upper bound of doublings, which keeps numbers finite. */
const MOST_DOUBLINGS = 40;

/**
 * Why the measured rate may be wrong: attempts that are rejected whatever the rate hide that the
 * pace is too high, or an incident has lowered it.
 */
export type RateDoubt = 'hidden' | 'fallen';

/**
 * Determines how far the pace exceeds the measured rate. The excess grows with verified attempts,
 * never with time alone, and the pace stays close to the highest verified one.
 */
export class RateProbing {
  /** The initial excess, as a share of the rate. */
  excess = 0;
  /** The number of verified attempts after which the excess doubles. */
  private doubling = LEAST_DOUBLING;
  /** Attempts that are sent at the present pace before the first of them is verified. */
  private unverified = 0;
  /** Attempts that were sent at a pace and verified since the last start. */
  private verified = 0;
  /** How often the excess has doubled since the last start. */
  private doublings = 0;
  /** The highest pace that was verified since the last start. */
  private verifiedPerMs = Number.POSITIVE_INFINITY;
  private verifiedAt = 0;
  /** Attempts from this order on were sent since the last start. */
  private triedFrom = 0;
  /**
   * The number of attempts that the provider may accept from saved capacity when it opens: these
   * are no evidence.
   */
  private unearned = 0;
  /**
   * How long the provider stays closed, in ms. For as long, saved capacity or the count of a window
   * may hide that a pace is too high.
   */
  private closedMs = 0;
  /** Attempts that a window admits; halved at each closure that is not that of a window. */
  private perWindow = 0;
  private readonly shared = new SharedLimit();
  private readonly held = new HeldPace();
  private readonly overrun = new RepeatedOverrun();

  /** Sets the initial excess of the next tries. It grows the slower the more evidence there is. */
  plan(excess: number, evidence: number, hasChanged = false): void {
    this.excess = excess;
    const most = hasChanged ? CHANGED_DOUBLING : MOST_DOUBLING;
    this.doubling = Math.max(LEAST_DOUBLING, Math.min(most, evidence));
  }

  /**
   * A cycle ended with a closure.
   * @param isWindow whether it was closed for long, as a window that is used up
   * @param cycle as for `RepeatedOverrun.cycled`
   */
  cycled(isWindow: boolean, ...cycle: Parameters<RepeatedOverrun['cycled']>): void {
    const [accepted] = cycle;
    this.overrun.cycled(...cycle);
    this.perWindow = isWindow ? Math.min(MOST_PER_WINDOW, accepted) : this.perWindow / 2;
  }

  /**
   * A closure has ended. If other processes use the limit too, the pace leaves them room. If
   * rejections cost more than they should, it stays below the rejected one for some time.
   */
  stopped(stop: SharedStop & EndedClosure): void {
    this.shared.stopped(stop);
    this.held.stopped(stop);
  }

  /**
   * Starts a new series of tries.
   * @param perMs the measured rate
   * @param order attempts of a lower order do not belong to the series
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
    // Named waits and probes lengthen closures, so the shortest of several is the best measure.
    this.closedMs = this.closedMs === 0 ? closedMs : Math.min(closedMs, FORGETS * this.closedMs);
    this.verifiedAt = at;
    this.verified = 0;
    this.doublings = 0;
    this.triedFrom = order;
    this.verifiedPerMs = Number.POSITIVE_INFINITY;
    this.verifiedPerMs = this.paceOf(perMs);
  }

  private plannedDoubling(doubt: RateDoubt | undefined): number {
    if (doubt === 'fallen') return FALLEN_DOUBLING;
    return doubt === 'hidden' ? Math.max(this.doubling, HIDDEN_DOUBLING) : this.doubling;
  }

  /** The limit has changed by a factor. */
  scale(factor: number): void {
    this.verifiedPerMs *= factor;
    this.shared.scale(factor);
    this.held.scale(factor);
    this.overrun.scale(factor);
  }

  /** The measured rate was raised, both per ms. The pace stays, or rises to the initial excess. */
  raised(before: number, after: number): void {
    const excess = (before * (1 + this.presentExcess)) / after - 1;
    this.doublings = Math.max(0, Math.log2(Math.max(0, excess) / this.excess));
  }

  /** The provider accepts more than was measured: the excess grows sooner. */
  hasten(): void {
    this.doubling = Math.min(this.doubling, HASTENED);
  }

  /** The pace to send at now, per ms. */
  paceOf(perMs: number): number {
    const grownPerMs = perMs * (1 + this.presentExcess - MARGIN);
    const pacePerMs = this.shared.paceAfter(this.verified) ?? grownPerMs;
    // The measured rate itself is never held back.
    const { verified } = this;
    const mostPerMs = Math.max(
      perMs,
      Math.min(this.held.most(verified), this.overrun.most(verified)),
    );
    return Math.min(LEAD * this.verifiedPerMs, pacePerMs, mostPerMs);
  }

  private get presentExcess(): number {
    return this.excess * 2 ** Math.min(MOST_DOUBLINGS, this.doublings);
  }

  /**
   * @param horizonMs the time within which rejections return; Infinity before the first one
   */
  accepted(sent: SentAttempt, horizonMs: number, doubt?: RateDoubt): void {
    const { at, order, isPaced, pacePerMs } = sent;
    if (!isPaced || order < this.triedFrom) return;
    const silenceMs = horizonMs === Number.POSITIVE_INFINITY ? 0 : horizonMs;
    const isKnown = pacePerMs !== Number.POSITIVE_INFINITY;
    if (isKnown) this.unverified = pacePerMs * silenceMs;
    this.verified += 1;
    // With faster growth, the pace would be far too high before a rejection returns. Growth slows
    // down with the distance from the measured rate, unless that has fallen far.
    const lead = doubt === 'fallen' ? 1 : 1 + this.presentExcess - this.excess;
    // Only the end of a window shows that it is overrun: the excess doubles at most once in the
    // first window, twice in the next, and so on. Otherwise processes that share the window would
    // compete for it, and most of them would lose.
    const perWindow = this.perWindow / 2 ** Math.min(MOST_DOUBLINGS, this.doublings);
    const planned = this.plannedDoubling(doubt);
    const doubling = this.overrun.exceeds(pacePerMs)
      ? Math.max(LEAST_DOUBLING, this.unverified)
      : lead * Math.max(planned, this.unverified, perWindow);
    if (this.verified > this.unearned) this.doublings += 1 / doubling;
    if (!isKnown) return;
    // A higher pace is verified when its rejections would have returned.
    if (at < this.verifiedAt + Math.max(silenceMs, this.closedMs)) return;
    this.verifiedAt = at;
    this.verifiedPerMs = Math.max(this.verifiedPerMs, pacePerMs);
  }
}
