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
 * ago, plus our own use since, divided by the time. The use of others is not part of it. A limit
 * that is full gets no more: then what was measured is the least that it gets.
 */
export class FillMeter {
  #levels: Level[] = [];
  /** The last level that was full. */
  #full: Level | undefined = undefined;
  #highest = 0;
  #perMs: number | undefined = undefined;
  #mostPerMs: number | undefined = undefined;

  /** The greatest amount ever left. */
  get highest(): number {
    return this.#highest;
  }

  /** @returns undefined while it is unknown */
  get perMs(): number | undefined {
    return this.#perMs;
  }

  /**
   * The highest rate that fits the measurement: of the amounts left, fractions are not reported.
   * @returns undefined while it is unknown
   */
  get mostPerMs(): number | undefined {
    return this.#mostPerMs;
  }

  /** Continues with what another meter has measured. @param perMs null: it was unknown */
  continue(highest: number, perMs: number | null): void {
    this.#highest = highest;
    this.#perMs = perMs ?? undefined;
    this.#mostPerMs = this.#perMs;
  }

  report(level: Level): void {
    this.#highest = Math.max(this.#highest, level.left);
    const levels = this.#levels;
    const last = levels.at(-1);
    if (last !== undefined && level.at - last.at < APART_MS) return;
    if (level.left >= FULL * this.#highest) this.#full = level;
    levels.push(level);
    while (levels.length > 2 && level.at - (levels[1]?.at ?? 0) >= SPAN_MS) levels.shift();
    const [first = level] = levels;
    const full = this.#full;
    const from = full !== undefined && full.at > first.at ? full : first;
    const exact = filledPerMs(from, level);
    if (exact !== undefined) {
      this.#perMs = exact;
      this.#mostPerMs = exact + 1 / (level.at - from.at);
    } else if (this.#perMs !== undefined && this.#mostPerMs !== undefined) {
      // A full limit has lost refill: more has come back than was measured.
      this.#perMs = Math.max(this.#perMs, filledPerMs(first, level) ?? 0);
      this.#mostPerMs = Math.max(this.#mostPerMs, this.#perMs);
    }
  }

  /** An attempt cost more than estimated. */
  corrected(order: number, more: number): void {
    for (const level of this.#levels) if (order <= level.order) level.total += more;
  }

  /** The limit itself has changed by a factor. */
  scale(factor: number): void {
    this.#levels = [];
    if (this.#perMs !== undefined) this.#perMs *= factor;
    if (this.#mostPerMs !== undefined) this.#mostPerMs *= factor;
    this.#highest *= factor;
  }
}

/** The refill between two levels, per ms; undefined if they are too close. */
function filledPerMs(from: Level, to: Level): number | undefined {
  const durationMs = to.at - from.at;
  if (durationMs < LEAST_SPAN_MS || to.order - from.order < LEAST_ATTEMPTS) return undefined;
  return Math.max(0, to.left - from.left + (to.total - from.total)) / durationMs;
}
