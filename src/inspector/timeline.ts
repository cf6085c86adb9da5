import { COLUMNS, type Column, type Point } from './wire.ts';

/** A quarter of an hour, a point a second. */
const KEPT_SECONDS = 900;

const WIDTH = COLUMNS.length;

/** What a gate has done in each of the last 900 seconds, in a ring of plain numbers. */
export class Timeline {
  /** Taken when there is something to remember. */
  #values: Float64Array | undefined;
  #length = 0;
  /** The row of the present second. */
  #row = -1;

  get length(): number {
    return this.#length;
  }

  /**
   * Adds to the present second. Seconds in which nobody looked are missing.
   * @param second since 1970
   * @param added sums up over the second
   * @param state stands for the second as it was last; NaN: not known
   */
  put(
    second: number,
    added: Readonly<Partial<Record<Column, number>>>,
    state: Readonly<Partial<Record<Column, number>>>,
  ): void {
    this.#values ??= new Float64Array(KEPT_SECONDS * WIDTH);
    const values = this.#values;
    if (this.#row < 0 || values[this.#row * WIDTH] !== second) this.#begin(values, second);
    const start = this.#row * WIDTH;
    for (const [index, column] of COLUMNS.entries()) {
      const more = added[column];
      if (more !== undefined) values[start + index] = (values[start + index] ?? 0) + more;
      const now = state[column];
      if (now !== undefined) values[start + index] = now;
    }
  }

  /** The last points, the oldest first. */
  last(count: number): readonly Point[] {
    const points: Point[] = [];
    const least = Math.max(0, this.#length - count);
    for (let back = this.#length - 1 - least; back >= 0; back -= 1) {
      points.push(this.#point((this.#row - back + KEPT_SECONDS) % KEPT_SECONDS));
    }
    return points;
  }

  /** Mean of a column over the last seconds that are over. */
  mean(column: Column, seconds: number): number {
    const index = COLUMNS.indexOf(column);
    let sum = 0;
    const count = Math.min(seconds, this.#length - 1);
    for (let back = 1; back <= count; back += 1) {
      const row = (this.#row - back + KEPT_SECONDS) % KEPT_SECONDS;
      sum += this.#values?.[row * WIDTH + index] ?? 0;
    }
    return count > 0 ? sum / count : (this.#values?.[this.#row * WIDTH + index] ?? 0);
  }

  #begin(values: Float64Array, second: number): void {
    this.#row = (this.#row + 1) % KEPT_SECONDS;
    this.#length = Math.min(KEPT_SECONDS, this.#length + 1);
    values.fill(0, this.#row * WIDTH, (this.#row + 1) * WIDTH);
    values[this.#row * WIDTH] = second;
  }

  #point(row: number): Point {
    const point: (number | null)[] = [];
    for (let index = 0; index < WIDTH; index += 1) {
      const value = this.#values?.[row * WIDTH + index] ?? 0;
      point.push(Number.isFinite(value) ? Math.round(value * 100) / 100 : null);
    }
    return point;
  }
}
