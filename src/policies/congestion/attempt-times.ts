/** How many attempts were answered and how long that took, and how many timed out. */
export class AttemptTimes {
  answers = 0;
  #timeouts = 0;
  #answersMs = 0;
  /** Answers whose time is not known; they count half of the timeout. */
  #untimed = 0;

  /** @param tookMs NaN: not known */
  answered(tookMs: number): void {
    this.answers += 1;
    if (Number.isNaN(tookMs)) this.#untimed += 1;
    else this.#answersMs += tookMs;
  }

  timedOut(): void {
    this.#timeouts += 1;
  }

  get count(): number {
    return this.answers + this.#timeouts;
  }

  /** The mean time of an answer; NaN if none is known. */
  get meanMs(): number {
    return this.#answersMs / (this.answers - this.#untimed);
  }

  /** How many more timeouts there are than answers make up for. */
  excess(timeoutMs: number): number {
    return this.#timesTimeout(timeoutMs) - this.answers;
  }

  /** The part of the attempts that is answered within the timeout. May exceed 1; 0 without answers. */
  answeredPart(timeoutMs: number): number {
    return this.answers === 0 ? 0 : this.answers / this.#timesTimeout(timeoutMs);
  }

  /** Lets older attempts count less. */
  halve(): void {
    this.answers /= 2;
    this.#timeouts /= 2;
    this.#answersMs /= 2;
    this.#untimed /= 2;
  }

  /**
   * The time in flight of all of them, in timeouts. An answer counts one at most: a timeout of
   * another kind, such as that of a connection, may be shorter.
   */
  #timesTimeout(timeoutMs: number): number {
    const answers = this.#answersMs / timeoutMs + this.#untimed / 2;
    return Math.min(answers, this.answers) + this.#timeouts;
  }
}
