/** What each further measurement leaves of the earlier ones. */
const MEMORY = 0.98;

/** How many tokens requests really use, for each that was estimated: a mean that forgets slowly. */
export class TokenRatio {
  #estimated = 0;
  #used = 0;

  measured(estimate: number, used: number): void {
    this.#estimated = this.#estimated * MEMORY + estimate;
    this.#used = this.#used * MEMORY + used;
  }

  /** An estimate, as much larger or smaller as the last ones should have been. */
  expected(estimate: number): number {
    return this.#estimated > 0 ? (estimate * this.#used) / this.#estimated : estimate;
  }
}
