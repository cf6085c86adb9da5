/** What was left at one time, and what had been sent and accepted by then. */
interface Level {
  readonly at: number;
  /** Attempts sent by then. */
  readonly order: number;
  readonly left: number;
  total: number;
}

/** Over how long the filling is measured... */
const SPAN_MS = 10_000;
/** ... and no less than this. */
const LEAST_SPAN_MS = 250;
/** Levels are kept this far apart. */
const APART_MS = 50;
/** ... and over no fewer attempts. */
const LEAST_ATTEMPTS = 10;
/** One that is nearer to the highest than this has overflowed. */
const FULL = 0.98;

/**
 * How fast a limit comes back for us: what is left now, less what was left some seconds ago, plus what
 * we have used since, by that time. What others use of it is not in it.
 */
export class FillMeter {
  #levels: Level[] = [];
  #highest = 0;
  #perMs: number | undefined = undefined;

  /** The most that ever was left. */
  get highest(): number {
    return this.#highest;
  }

  /** undefined: not known yet. */
  get perMs(): number | undefined {
    return this.#perMs;
  }

  report(level: Level): void {
    this.#highest = Math.max(this.#highest, level.left);
    const last = this.#levels.at(-1);
    if (last !== undefined && level.at - last.at < APART_MS) return;
    // What has overflowed was lost: that is measured from here on.
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

  /** An attempt has turned out to have cost more than was thought. */
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
