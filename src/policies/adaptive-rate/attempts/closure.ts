import type { Reaction, SentAttempt } from './sent-attempt.ts';

/** How many consecutive rejected probes make an outage. */
export const OUTAGE_PROBES = 3;

/** If fewer attempts than this, on average, follow a time without demand, all of them count. */
const LEAST_BURST = 3;

/** Attempts that were sent within this time may arrive in another order. */
const AT_ONCE_MS = 5;

/** What was counted since the previous closure. */
export interface CountedOpen {
  /** Accepted attempts. */
  readonly accepted: number;
  /**
   * The time without demand, the part of it in which used capacity came back, in ms, and the number
   * of such times.
   */
  readonly idleMs: number;
  readonly refillMs: number;
  readonly idles: number;
}

/** Consecutive rejections, without an accepted attempt that was sent after the reaction to them. */
export class Closure implements CountedOpen {
  readonly startedAt: number;
  readonly pacePerMs: number;
  /** Whether the first rejected attempt was part of a burst. */
  readonly isBySaved: boolean;
  /** When the last rejected attempt was sent. */
  lastAt: number;
  /** The earliest end of the wait that its rejections named; -Infinity if they named none. */
  namedUntil = Number.NEGATIVE_INFINITY;
  /**
   * When the first attempt after the last rejected one was sent that got an answer; undefined if
   * none did.
   */
  reopenedAt: number | undefined = undefined;
  /**
   * How much later than planned the first attempt after the last rejected one was sent, in ms. The
   * provider may have been open in this time: nothing asked it.
   */
  lateMs = 0;
  private hasAccepted = false;
  /**
   * Accepted attempts, and time without demand, from the previous closure to the last rejection of
   * this one.
   */
  accepted = 0;
  idleMs = 0;
  refillMs = 0;
  /** The number of times without demand. */
  idles = 0;
  private readonly reaction: Reaction;
  /** Rejected attempts that were sent after the reaction to the first rejection. */
  private probes = 0;
  /** Whether no rejection so far looks like one by the limit. */
  private isForeign = true;
  /** Whether all rejections so far look different from those by the limit. */
  isOfOtherKind = true;
  /**
   * The rate of the whole limit, per ms, if a rejection reports that nothing is left of it; else 0.
   */
  usedUpPerMs = 0;

  /** @param first the attempt whose rejection begins it */
  constructor(first: SentAttempt) {
    this.startedAt = first.at;
    this.lastAt = first.at;
    this.reaction = first.reaction;
    this.pacePerMs = first.pacePerMs;
    this.isBySaved = first.isSaved && first.pacePerMs !== Number.POSITIVE_INFINITY;
  }

  /**
   * The accepted attempts, without the first one after each time without demand: the provider may
   * have accepted that one from saved capacity. If there are only a few attempts, all count.
   */
  get byPace(): number {
    const { accepted, idles } = this;
    return accepted < LEAST_BURST * idles ? accepted : accepted - idles;
  }

  /** Attempts of a lower order were sent before the reaction to the first rejection. */
  get noticedAt(): number {
    return this.reaction.order;
  }

  /**
   * Whether the attempt was sent after the reaction to the first rejection. The leader of a fleet
   * hears late of attempts that were in flight under the leader before: only their order is late.
   */
  isBefore({ at, order }: SentAttempt): boolean {
    return order >= this.noticedAt && at >= this.startedAt;
  }

  /** Whether several single attempts in a row were rejected. */
  get isLong(): boolean {
    return this.probes >= OUTAGE_PROBES;
  }

  /** Whether an outage is the cause, so that the closure shows nothing about a limit. */
  get isOutage(): boolean {
    return this.isForeign && this.isLong;
  }

  /** @param since what was counted until this rejection */
  add(
    { at, order, isForeign, isOfOtherKind, usedUpPerMs, namedUntil }: SentAttempt,
    { accepted, idleMs, refillMs, idles }: CountedOpen,
  ): void {
    if (order >= this.noticedAt) this.probes += 1;
    if (!isForeign) this.isForeign = false;
    if (!isOfOtherKind) this.isOfOtherKind = false;
    this.usedUpPerMs = Math.max(this.usedUpPerMs, usedUpPerMs);
    this.namedUntil = Math.max(this.namedUntil, namedUntil);
    this.lastAt = at;
    this.reopenedAt = undefined;
    this.lateMs = 0;
    this.hasAccepted = false;
    this.accepted = accepted;
    this.idleMs = idleMs;
    this.refillMs = refillMs;
    this.idles = idles;
  }

  /**
   * Records an accepted attempt. One that was sent together with the last rejected attempt may have
   * overtaken it, and shows nothing.
   */
  accept({ at, isAnswered, lateMs }: SentAttempt): void {
    if (at <= this.lastAt + AT_ONCE_MS) return;
    if (!this.hasAccepted) this.lateMs = Math.min(lateMs, at - this.lastAt);
    this.hasAccepted = true;
    if (isAnswered) this.reopenedAt ??= at;
  }
}
