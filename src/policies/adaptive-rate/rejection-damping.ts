/** The number of stops in a stage; stages are compared with each other. */
const STOPS = 6;
/** The rate must have fallen below this share of the first stage's rate to be compared. */
const LOWER = 0.93;
/** The rate must also have fallen this often in a row, and twice as often after each mistake. */
const FALLS = 2;
/**
 * A share of stops that is smaller by this factor shows that the rate is the cause; smaller
 * differences are chance.
 */
const LESS = 2.5;
/** Up to this multiple of the stops that do not depend on the rate is expected by chance. */
const BY_CHANCE = 2;
/** A larger share of stops than this is never by chance. */
const MOST_SHARE = 0.05;
/** The weight of each new measurement of the share. */
const WEIGHT = 1 / 4;

/** The stops at about the same rate. */
interface Stage {
  readonly perMs: number;
  /** Stops as a share of all attempts. */
  readonly share: number;
}

/**
 * Finds rejections that do not depend on the rate: if the rate falls several times and the share of
 * rejected attempts stays the same, the rate is not the cause. Then the earlier rate is used again,
 * and stops are ignored up to twice their share. If there are more, the rate was the cause after
 * all.
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

  /** The share of attempts that is rejected whatever the rate; 0 if none is known. */
  get share(): number {
    return this._share;
  }

  /** The rate before the falls that did not reduce the share of stops. */
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
   * @param pacePerMs the pace at which they were sent
   * @returns whether to ignore the rejection
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
