/** The highest and the lowest rate, as multiples of the rate of the whole limit. */
export const MOST_FACTOR = 1.5;
export const LEAST_BASE = 0.01;
/** The greatest change per second, so that workers that share a limit find their shares. */
const DRIFT = 0.07;
/**
 * An increase also adds this part of the step, as a share of the whole limit: equal additions and
 * proportional reductions make the shares of workers equal.
 */
const ADDED = 0.2;

/** Our share of a limit that others may use too, as a rate: it grows while something is left. */
export class DriftingRate {
  #wholePerMs = 0;
  #perMs: number | undefined = undefined;
  #driftedAt = 0;

  /** Undefined if nothing is known. */
  get perMs(): number | undefined {
    return this.#perMs;
  }

  /** The rate of the whole limit: the amount per window, by the length of the window. */
  get wholePerMs(): number {
    return this.#wholePerMs;
  }

  /** @param firstPerMs the initial rate, per ms */
  told(wholePerMs: number, firstPerMs: number, now: number): void {
    if (this.#perMs === undefined) this.#driftedAt = now;
    this.#wholePerMs = wholePerMs;
    this.#perMs = Math.min(this.#perMs ?? firstPerMs, wholePerMs * MOST_FACTOR);
  }

  /** Raises the rate to that of the whole limit, once that is known. */
  raise(): void {
    if (this.#perMs !== undefined) this.#perMs = Math.max(this.#perMs, this.#wholePerMs);
  }

  /** The limit itself has changed. */
  scale(factor: number): void {
    this.#wholePerMs *= factor;
    if (this.#perMs !== undefined) this.#perMs *= factor;
  }

  /**
   * @param excess the amount left above the spare, as a multiple of the spare. @returns the rate
   * per ms
   */
  drift(perMs: number, excess: number, now: number): number {
    const driftedMs = Math.min(1_000, now - this.#driftedAt);
    this.#driftedAt = now;
    const step = DRIFT * Math.max(-1, Math.min(1, excess)) * (driftedMs / 1_000);
    const most = this.#wholePerMs * MOST_FACTOR;
    const added = step > 0 ? ADDED * step * this.#wholePerMs : 0;
    const drifted = Math.min(most, perMs * (1 + step) + added);
    this.#perMs = Math.max(this.#wholePerMs * LEAST_BASE, drifted);
    return this.#perMs;
  }
}
