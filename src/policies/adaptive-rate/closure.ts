import type { Reaction, SentAttempt } from './sent-attempt.ts';

/** So many single attempts in a row must be rejected before a closure may be an outage. */
const OUTAGE_PROBES = 3;

/** Bursts of fewer attempts than this, on average, show a rate by all of them. */
const LEAST_BURST = 3;

/** Attempts that were sent within this time may arrive in another order. */
const AT_ONCE_MS = 5;

/** Consecutive rejections, without an accepted attempt that was sent after the reaction to them. */
export class Closure {
  readonly startedAt: number;
  readonly pacePerMs: number;
  /** Whether an attempt that was sent as part of a burst began it. */
  readonly isBySaved: boolean;
  /** When the last of them was sent. */
  lastAt: number;
  rejected = 0;
  /**
   * When the first attempt after the last of them was sent that an answer shows to be accepted;
   * undefined: none was.
   */
  reopenedAt: number | undefined = undefined;
  /**
   * Accepted attempts, and time without demand, between the last closure and the end of this one.
   */
  accepted = 0;
  idleMs = 0;
  /** How often there was such time. */
  idles = 0;
  private readonly reaction: Reaction;
  /** Single attempts that were rejected since it was noticed. */
  private probes = 0;
  /** Whether no rejection of it looks like those of the limit. */
  private isForeign = true;
  /** The rate of the whole limit, per ms, if one of them reports that nothing is left of it; else 0. */
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
   * The accepted attempts without the first after each time without demand: what was saved meanwhile
   * pays for that. Of a few, none can be spared.
   */
  get byPace(): number {
    const { accepted, idles } = this;
    return accepted < LEAST_BURST * idles ? accepted : accepted - idles;
  }

  /** Attempts of a lower order were in flight when it was noticed. */
  get noticedAt(): number {
    return this.reaction.order;
  }

  /** Whether several single attempts in a row were rejected. */
  get isLong(): boolean {
    return this.probes >= OUTAGE_PROBES;
  }

  /** Whether it says nothing of a limit. */
  get isOutage(): boolean {
    return this.isForeign && this.isLong;
  }

  add(
    { at, order, isForeign, usedUpPerMs }: SentAttempt,
    accepted: number,
    idleMs: number,
    idles: number,
  ): void {
    if (order >= this.noticedAt) this.probes += 1;
    if (!isForeign) this.isForeign = false;
    this.usedUpPerMs = Math.max(this.usedUpPerMs, usedUpPerMs);
    this.rejected += 1;
    this.lastAt = at;
    this.reopenedAt = undefined;
    this.accepted = accepted;
    this.idleMs = idleMs;
    this.idles = idles;
  }

  /**
   * An attempt after the last of them counts as accepted. One that was sent with it may have overtaken
   * it, and shows nothing.
   */
  accept({ at, isAnswered }: SentAttempt): void {
    if (isAnswered && at > this.lastAt + AT_ONCE_MS) this.reopenedAt ??= at;
  }
}
