/** What each further measurement leaves of the earlier ones. */
const MEMORY = 0.98;

/** How many tokens requests really use: for each that was estimated, and where nobody estimated any. */
export class TokenRatio {
  readonly #ofEstimated = new Ratio();
  readonly #ofOthers = new Ratio();

  measured(estimate: number, used: number): void {
    if (estimate > 0) this.#ofEstimated.add(estimate, used);
    else this.#ofOthers.add(1, used);
  }

  /** An estimate, as much larger or smaller as the last ones should have been; of 0, what is usual. */
  expected(estimate: number): number {
    return estimate > 0 ? estimate * (this.#ofEstimated.value ?? 1) : (this.#ofOthers.value ?? 0);
  }
}

/** The ratio of two sums that forget slowly. */
class Ratio {
  #of = 0;
  #to = 0;

  /** undefined: nothing was added. */
  get value(): number | undefined {
    return this.#of > 0 ? this.#to / this.#of : undefined;
  }

  add(of: number, to: number): void {
    this.#of = this.#of * MEMORY + of;
    this.#to = this.#to * MEMORY + to;
  }
}
