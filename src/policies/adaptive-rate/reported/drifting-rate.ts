/** The highest and the lowest rate, as multiples of the rate of the whole limit. */
export const MOST_FACTOR = 1.5;
export const LEAST_BASE = 0.01;
/** The share that is used of a rate that is known exactly. */
export const EXACT_PART = 0.998;
/** The lowest rate, as a share of our own, when nothing is left. */
export const LEAST_FACTOR = 0.2;
/**
 * An excess is measured in amounts of the spare, and at least in this one: so a single request
 * changes the rate little.
 */
const LEAST_SCALE = 3;
/** The share of an excess that raises the rate. */
const EXCESS_WEIGHT = 1 / 3;
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

  /** Continues with the rate of another learner. @param perMs null: nothing was known */
  continue(perMs: number | null, at: number): void {
    this.#perMs = perMs ?? undefined;
    this.#driftedAt = at;
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
   * The rate now, once it is known: above our share of the limit if more is left than is spared, and
   * below it if less is.
   * @param mostFactor the highest rate, as a multiple of our share
   * @param mostPerMs the highest rate, per ms
   */
  rateFor(
    left: number,
    spare: number,
    now: number,
    mostFactor: number,
    mostPerMs = Number.POSITIVE_INFINITY,
  ): number {
    const excess = (left - spare) / Math.max(spare, LEAST_SCALE);
    const base = this.#drift(excess, now);
    const most = Math.min(mostFactor * base, mostPerMs);
    const factor = 1 + (excess > 0 ? excess * EXCESS_WEIGHT : excess);
    return Math.max(LEAST_FACTOR * base, Math.min(most, base * factor));
  }

  #drift(excess: number, now: number): number {
    const driftedMs = Math.min(1_000, now - this.#driftedAt);
    this.#driftedAt = now;
    const step = DRIFT * Math.max(-1, Math.min(1, excess)) * (driftedMs / 1_000);
    const most = this.#wholePerMs * MOST_FACTOR;
    const added = step > 0 ? ADDED * step * this.#wholePerMs : 0;
    const perMs = this.#perMs ?? 0;
    const drifted = Math.min(most, perMs * (1 + step) + added);
    this.#perMs = Math.max(this.#wholePerMs * LEAST_BASE, drifted);
    return this.#perMs;
  }
}
