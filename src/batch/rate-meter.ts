/** Results older than this do not count for the rate now. */
const NOW_MS = 10_000;
/** The rate that an ETA rests on is that of so long, so that it settles. */
const LONG_MS = 120_000;
const STEP_MS = 500;

/** How fast requests end. Times in ms, of any one clock. */
export class RateMeter {
  /** Counts at the ends of steps, the oldest first. */
  readonly #samples: { at: number; count: number }[] = [];
  #count = 0;

  add(now: number): void {
    if (this.#samples.length === 0) this.#samples.push({ at: now, count: 0 });
    this.#count += 1;
    const last = this.#samples.at(-1);
    if (last !== undefined && now - last.at < STEP_MS) return;
    this.#samples.push({ at: now, count: this.#count });
    while ((this.#samples[1]?.at ?? now) < now - LONG_MS) this.#samples.shift();
  }

  /** A second, over the last ten seconds; undefined: nothing has ended yet. */
  perSecond(now: number): number | undefined {
    return this.#over(NOW_MS, now);
  }

  /** The same over the last two minutes. */
  longPerSecond(now: number): number | undefined {
    return this.#over(LONG_MS, now);
  }

  #over(spanMs: number, now: number): number | undefined {
    const from = this.#samples.find(({ at }) => at >= now - spanMs);
    if (from === undefined) return this.#count === 0 ? undefined : 0;
    const seconds = Math.max(now - from.at, STEP_MS) / 1_000;
    return (this.#count - from.count) / seconds;
  }
}
