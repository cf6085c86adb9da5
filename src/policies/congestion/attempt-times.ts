/** How many attempts were answered, and how long these and those that timed out were in flight. */
export class AttemptTimes {
  answers = 0;
  #timeouts = 0;
  #spentMs = 0;
  /** Answers whose time is not known; they count half of the timeout. */
  #untimed = 0;

  /** @param tookMs NaN: not known */
  answered(tookMs: number): void {
    this.answers += 1;
    if (Number.isNaN(tookMs)) this.#untimed += 1;
    else this.#spentMs += tookMs;
  }

  timedOut(tookMs: number): void {
    this.#timeouts += 1;
    this.#spentMs += tookMs;
  }

  get count(): number {
    return this.answers + this.#timeouts;
  }

  /** The mean of the times that are known; NaN if none is. */
  get meanMs(): number {
    return this.#spentMs / (this.count - this.#untimed);
  }

  /** How many more timeouts there are than answers make up for. */
  excess(timeoutMs: number): number {
    return this.#timesTimeout(timeoutMs) - this.answers;
  }

  /**
   * The part of the attempts in flight that is answered within the timeout. May exceed 1; 0 without
   * answers.
   */
  answeredPart(timeoutMs: number): number {
    return this.answers === 0 ? 0 : this.answers / this.#timesTimeout(timeoutMs);
  }

  /** Lets older attempts count less. */
  halve(): void {
    this.answers /= 2;
    this.#timeouts /= 2;
    this.#spentMs /= 2;
    this.#untimed /= 2;
  }

  /** The time in flight of all of them, in timeouts. */
  #timesTimeout(timeoutMs: number): number {
    return this.#spentMs / timeoutMs + this.#untimed / 2;
  }
}
