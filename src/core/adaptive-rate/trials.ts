/** Congestions between two trials, at the most. */
const LONGEST_GAP = 32;
/** A trial that finds more than this above what was known was worth it. */
const WORTHWHILE = 1.015;
/** The part of the way from what was measured to what was sent last that is tried. */
const STEP = 0.45;
/** A trial goes no higher than this above what was measured. */
const MOST = 1.3;
/** Below this there is nothing to try. */
const LEAST = 1.02;

/**
 * Finds out whether a limit is lost where it is not used. The mean between two moments of congestion
 * is right for a bucket, which saves what is not used; of limits by the second, which do not, it
 * is what happened to be sent. So now and then a higher rate is tried at once: the rejection that
 * follows within seconds measures both kinds right. The less that was found, the rarer the next.
 */
export class Trials {
  #in = 1;
  #gap = 1;
  #found = 0;
  /** What was known before the trial that runs. */
  #from: number | undefined = undefined;
  /** Whether what was not used has turned out to be lost. */
  #isForgetful = false;

  /** What was known before the trial that runs; undefined: none does. */
  get from(): number | undefined {
    return this.#from;
  }

  get isRunning(): boolean {
    return this.#from !== undefined;
  }

  /** Whether a congestion while more was tried says nothing against what was known. */
  get isForgetful(): boolean {
    return this.#isForgetful;
  }

  /** @returns what to try; undefined: nothing now. @param recent the rate of the last moment */
  next(measured: number, recent: number): number | undefined {
    const isSinking = measured < this.#found * 0.99 && measured > this.#found * 0.97;
    this.#in = isSinking ? 0 : this.#in - 1;
    if (this.#in > 0 || recent <= measured * LEAST) return undefined;
    this.#from = measured;
    return measured + STEP * (Math.min(recent, MOST * measured) - measured);
  }

  /** The congestion that ends a trial has measured this. */
  end(measured: number): void {
    if (this.#from === undefined) return;
    const gain = measured / this.#from;
    this.#from = undefined;
    if (gain > WORTHWHILE) {
      this.#gap = 1;
      this.#isForgetful = true;
    } else {
      this.#gap = Math.min(LONGEST_GAP, this.#gap * 2);
      if (gain < 1) this.#isForgetful = false;
    }
    this.#in = this.#gap;
    this.#found = measured;
  }
}
