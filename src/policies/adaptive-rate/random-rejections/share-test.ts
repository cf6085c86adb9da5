/**
 * A greater share of rejections is that of a pace which exceeds the limit by this factor, and at
 * least this multiple of the share.
 */
const OVER = 1.1;
const TIMES = 1.6;
/**
 * A share is smaller than before if that explains the last attempts better by this power of e. It
 * needs no quick reaction.
 */
const SURE_FEWER = 8;

/**
 * Tests whether attempts are rejected independently of each other with a known probability: the
 * cumulative sum test of Page (1954), for greater and for smaller probabilities.
 */
export class ShareTest {
  private readonly sure: number;
  private more = 0;
  private less = 0;
  /** Attempts, and rejected attempts, since they began to look like fewer. */
  private total = 0;
  private rejected = 0;

  /** @param sure the power of e by which a greater share must explain the attempts better */
  constructor(sure: number) {
    this.sure = sure;
  }

  settled(isRejected: boolean, share: number): void {
    const more = Math.min((1 + share) / 2, Math.max(1 - (1 - share) / OVER, TIMES * share));
    this.more = Math.max(0, this.more + logRatio(isRejected, more, share));
    this.less = Math.max(0, this.less + logRatio(isRejected, share / 2, share));
    this.total = this.less === 0 ? 0 : this.total + 1;
    if (this.less === 0) this.rejected = 0;
    else if (isRejected) this.rejected += 1;
  }

  /** Whether clearly more than the share was rejected. */
  get isMore(): boolean {
    return this.more > this.sure;
  }

  /** The share that was rejected lately, if it is clearly smaller. */
  get fewer(): number | undefined {
    return this.less > SURE_FEWER ? this.rejected / this.total : undefined;
  }
}

/** How much better one probability explains a result than another, as a power of e. */
function logRatio(isRejected: boolean, one: number, other: number): number {
  return Math.log(isRejected ? one / other : (1 - one) / (1 - other));
}
