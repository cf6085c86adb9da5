const WINDOW_MS = 1_000;

/** Counts what has begun within the last second, so far as that matters. */
export class BeginRate {
  readonly #most: number;
  #times: number[] = [];

  /** @param most what is above it need not be known */
  constructor(most: number) {
    this.#most = most;
  }

  add(now: number): void {
    if (this.#times.length >= 2 * this.#most) this.#times = this.#times.slice(-this.#most);
    this.#times.push(now);
  }

  /** How many began after `now - 1 s`. */
  perSecond(now: number): number {
    const first = this.#times.findIndex((time) => time > now - WINDOW_MS);
    if (first < 0) this.#times = [];
    else if (first > 0) this.#times = this.#times.slice(first);
    return Math.min(this.#times.length, this.#most);
  }
}
