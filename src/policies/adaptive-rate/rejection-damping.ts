/** So many stops are compared with so many others. */
const STOPS = 6;
/** The rate must have fallen below this part of what it was to tell anything of rejections ... */
const LOWER = 0.93;
/** ... and so often in a row, twice as often after each mistake: at once it falls for a reason. */
const FALLS = 2;
/** Shares of so few stops differ by chance: one that is smaller by this factor shows that the rate is the cause. */
const LESS = 2.5;
/** Up to so many times the share that does not depend on the rate is expected by chance. */
const BY_CHANCE = 2;
/** A larger part than this is never by chance. */
const MOST_SHARE = 0.05;
/** How much of each new share is believed. */
const WEIGHT = 1 / 4;

/** Stops while about the same rate was sent. */
interface Stage {
  readonly perMs: number;
  /** Stops of all attempts. */
  readonly share: number;
}

/**
 * Finds rejections that do not depend on the rate: where less and less is sent, and as large a part of
 * it is rejected as before, the rate is not the cause. Then the rate of before is used again, and such
 * stops are ignored, up to twice their share. Where that is exceeded, the rate was the cause after all.
 */
export class RejectionDamping {
  private stops = 0;
  private attempts = 0;
  private perMs = 0;
  private first: Stage | undefined = undefined;
  private last: Stage | undefined = undefined;
  private falls = 0;
  private needed = FALLS;
  private _share = 0;

  /** The part of attempts that is rejected at any rate; 0: none that is known of. */
  get share(): number {
    return this._share;
  }

  /** The rate before it fell for nothing. */
  get ratePerMs(): number {
    return this.first?.perMs ?? 0;
  }

  /** An attempt was accepted or rejected. */
  settled(): void {
    this.attempts += 1;
    if (this._share * this.attempts > BY_CHANCE * STOPS) this.compare();
  }

  /**
   * One attempt was rejected, and the next accepted.
   * @param pacePerMs at which they were sent
   * @returns whether that is to be ignored
   */
  isByChance(pacePerMs: number): boolean {
    this.stops += 1;
    this.perMs += (pacePerMs - this.perMs) / this.stops;
    if (this._share === 0) {
      if (this.stops >= STOPS) this.compare();
      return this._share > 0;
    }
    if (this.stops > BY_CHANCE * (1 + this._share * this.attempts)) this.disprove();
    else if (this.stops >= STOPS) this.compare();
    return this._share > 0;
  }

  private compare(): void {
    const stage = { perMs: this.perMs, share: this.stops / this.attempts };
    this.stops = 0;
    this.attempts = 0;
    if (this._share === 0) this.follow(stage);
    else {
      this._share += WEIGHT * (stage.share - this._share);
      if (this._share > MOST_SHARE) this.disprove();
    }
  }

  private follow(stage: Stage): void {
    const { first, last } = this;
    this.last = stage;
    const isFall = first !== undefined && last !== undefined && stage.perMs < last.perMs;
    const factor = first === undefined ? Number.POSITIVE_INFINITY : stage.share / first.share;
    if (!isFall || factor < 1 / LESS || stage.share > MOST_SHARE) {
      this.first = stage;
      this.falls = 0;
      return;
    }
    this.falls += 1;
    if (this.falls >= this.needed && stage.perMs < LOWER * first.perMs) this._share = stage.share;
  }

  private disprove(): void {
    this._share = 0;
    this.needed *= 2;
    this.falls = 0;
    this.stops = 0;
    this.attempts = 0;
    this.first = undefined;
    this.last = undefined;
  }
}
