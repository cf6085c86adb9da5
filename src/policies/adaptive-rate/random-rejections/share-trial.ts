import type { SentAttempt } from '../attempts/sent-attempt.ts';

/** How many attempts are sent. */
const ATTEMPTS = 32;
/**
 * They are sent so many times faster: a limit that some dozens of processes share rejects most of
 * them. Not faster still: a limit that is not used up saves capacity for few attempts.
 */
const FASTER = 64;
/**
 * After a trial has failed, the next one is slower by this factor, until the least: the provider's
 * own limit rejects what is sent faster than it, unless it has saved enough.
 */
const SLOWER = 4;
const LEAST_FASTER = 4;
/** More rejections than expected, by this number of standard deviations, are not by chance. */
const DEVIATIONS = 2;
/** A trial fails if more attempts than this have no result, or one with another cause. */
const MOST_FAILED = 16;

export type TrialAttempt = Pick<SentAttempt, 'outcome' | 'at' | 'namedUntil'>;

/**
 * Sends some attempts much faster, to tell rejections by chance from those by a limit that other
 * processes use up: chance rejects the same share of them, such a limit rejects most, or several in
 * a row until it opens again.
 */
export class ShareTrial {
  private faster = FASTER;
  private _isSlowest = false;
  private unsent = 0;
  private pending = 0;
  private rejected = 0;
  /** Attempts without a result, or with one that has another cause. */
  private failed = 0;
  private share = 0;
  /** Attempts that show something: a limit, too, accepts the first one after the wait it named. */
  private counted = 0;
  /** Attempts that follow a rejected one, and the rejected ones of these. */
  private following = 0;
  private repeated = 0;
  private wasRejected = false;
  /** The latest end of a wait that a rejection named, and when the last attempt was sent. */
  private namedUntil = 0;
  private lastAt = 0;
  /** Attempts of an earlier trial whose results are still unknown. */
  private stale = 0;

  /** Whether the next attempt is part of it. */
  get isSending(): boolean {
    return this.unsent > 0;
  }

  /** @param perMs the pace without a trial, per ms */
  paceOf(perMs: number): number {
    return this.isSending ? this.faster * perMs : perMs;
  }

  /** Whether the last trial had the least pace. */
  get isSlowest(): boolean {
    return this._isSlowest;
  }

  start(share: number): void {
    this.stop();
    this.unsent = ATTEMPTS;
    this.pending = ATTEMPTS;
    this.rejected = 0;
    this.failed = 0;
    this.share = share;
    this.counted = ATTEMPTS;
    this.following = 0;
    this.repeated = 0;
    this.wasRejected = false;
    this.namedUntil = Number.NEGATIVE_INFINITY;
    this._isSlowest = this.faster === LEAST_FASTER;
  }

  sent(): void {
    this.unsent -= 1;
  }

  /**
   * An attempt has ended; they end in the order of sending. Results with another cause show nothing,
   * unless they are too many.
   * @returns whether the share is by chance: false once too many are rejected, true if not so many
   * are when all results are known
   */
  settled({ outcome, at, namedUntil }: TrialAttempt): boolean | undefined {
    if (this.stale > 0) {
      this.stale -= 1;
      return undefined;
    }
    this.pending -= 1;
    const isAfterWait = this.lastAt < this.namedUntil && at >= this.namedUntil;
    this.lastAt = at;
    const isFailed = outcome === 'withdrawn';
    if (isFailed) this.failed += 1;
    if (isFailed || isAfterWait) this.counted -= 1;
    else this.count(outcome === 'rejected');
    this.namedUntil = Math.max(this.namedUntil, namedUntil);
    if (this.rejected > this.mostOf(this.counted) || this.failed > MOST_FAILED) return this.fail();
    if (this.pending > 0) return undefined;
    return this.repeated > this.mostOf(this.following) ? this.fail() : true;
  }

  private count(isRejected: boolean): void {
    if (isRejected) this.rejected += 1;
    if (this.wasRejected) {
      this.following += 1;
      if (isRejected) this.repeated += 1;
    }
    this.wasRejected = isRejected;
  }

  /** More rejections among so many attempts are not by chance. */
  private mostOf(attempts: number): number {
    const expected = attempts * this.share;
    return expected + DEVIATIONS * Math.sqrt(expected * (1 - this.share));
  }

  private fail(): false {
    this.stop();
    this.faster = Math.max(LEAST_FASTER, this.faster / SLOWER);
    return false;
  }

  /** Sends no more attempts, and leaves out the results of those that are sent. */
  private stop(): void {
    this.stale += this.pending - this.unsent;
    this.unsent = 0;
    this.pending = 0;
  }
}
