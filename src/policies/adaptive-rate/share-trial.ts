/** How many attempts are sent. */
const ATTEMPTS = 32;
/**
 * They are sent so many times faster: a limit that some dozens of processes share rejects most of
 * them. Not faster still: a limit that is not used up saves capacity for few attempts.
 */
const FASTER = 64;
/** More rejections than expected, by this number of standard deviations, are not by chance. */
const DEVIATIONS = 2;

/**
 * Sends some attempts much faster, to tell rejections by chance from those by a limit that other
 * processes use up: chance rejects the same share of them, such a limit rejects most.
 */
export class ShareTrial {
  private unsent = 0;
  private pending = 0;
  private rejected = 0;
  private share = 0;

  /** Whether the next attempt is part of it. */
  get isSending(): boolean {
    return this.unsent > 0;
  }

  /** @param perMs the pace without a trial, per ms */
  paceOf(perMs: number): number {
    return this.isSending ? FASTER * perMs : perMs;
  }

  start(share: number): void {
    this.unsent = ATTEMPTS;
    this.pending = ATTEMPTS;
    this.rejected = 0;
    this.share = share;
  }

  sent(): void {
    this.unsent -= 1;
  }

  /** @returns whether the share is by chance, once all results are known */
  settled(isRejected: boolean): boolean | undefined {
    this.pending -= 1;
    if (isRejected) this.rejected += 1;
    if (this.pending > 0) return undefined;
    const expected = ATTEMPTS * this.share;
    return this.rejected <= expected + DEVIATIONS * Math.sqrt(expected * (1 - this.share));
  }
}
