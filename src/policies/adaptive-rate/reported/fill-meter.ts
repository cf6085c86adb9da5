/** The amount that was left at a time, and the amounts sent and accepted by then. */
interface Level {
  readonly at: number;
  /** The number of attempts sent by then. */
  readonly order: number;
  readonly left: number;
  total: number;
}

/** The longest measurement of the refill. */
const SPAN_MS = 10_000;
/** The shortest measurement of the refill. */
const LEAST_SPAN_MS = 250;
/** The least time between stored levels. */
const APART_MS = 50;
/** The least number of attempts in a measurement. */
const LEAST_ATTEMPTS = 10;
/** A level this close to the highest counts as an overflow. */
const FULL = 0.98;

/**
 * The rate at which a limit refills for us: the amount left now, minus the amount left some seconds
 * ago, plus our own use since, divided by the time. The use of others is not part of it.
 */
export class FillMeter {
  #levels: Level[] = [];
  #highest = 0;
  #perMs: number | undefined = undefined;

  /** The greatest amount ever left. */
  get highest(): number {
    return this.#highest;
  }

  /** @returns undefined while it is unknown */
  get perMs(): number | undefined {
    return this.#perMs;
  }

  report(level: Level): void {
    this.#highest = Math.max(this.#highest, level.left);
    const last = this.#levels.at(-1);
    if (last !== undefined && level.at - last.at < APART_MS) return;
    // The refill of a full limit is lost: measure from here on.
    if (level.left >= FULL * this.#highest) this.#levels = [];
    this.#levels.push(level);
    while (this.#levels.length > 2 && level.at - (this.#levels[1]?.at ?? 0) >= SPAN_MS) {
      this.#levels.shift();
    }
    const [first] = this.#levels;
    if (first === undefined || level.at - first.at < LEAST_SPAN_MS) return;
    if (level.order - first.order < LEAST_ATTEMPTS) return;
    const filled = level.left - first.left + (level.total - first.total);
    this.#perMs = Math.max(0, filled) / (level.at - first.at);
  }

  /** An attempt cost more than estimated. */
  corrected(order: number, more: number): void {
    for (const level of this.#levels) if (order <= level.order) level.total += more;
  }

  /** The limit itself has changed by a factor. */
  scale(factor: number): void {
    this.#levels = [];
    if (this.#perMs !== undefined) this.#perMs *= factor;
    this.#highest *= factor;
  }
}
