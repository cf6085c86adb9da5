import type { GateState } from './gate-state.ts';
import type { GateFollower } from './request-follower.ts';
import { COLUMNS, type Column, GATES, type Point } from './wire.ts';

/** A quarter of an hour, with one point a second. */
const KEPT_SECONDS = 900;

const WIDTH = COLUMNS.length;

/** The figures of a gate for each of the last 900 seconds, in a ring of plain numbers. */
class Timeline {
  /** Allocated with the first point. */
  #values: Float64Array | undefined;
  #length = 0;
  /** The row of the present second. */
  #row = -1;

  get length(): number {
    return this.#length;
  }

  /**
   * Adds figures to the present second. Seconds without a look are missing.
   * @param second since 1970
   * @param added figures that are summed over the second
   * @param state figures whose last value counts for the second; NaN: not known
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

  /** The mean of a column over the last complete seconds. */
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

/** Rates are means over this number of seconds. */
const RATE_SECONDS = 3;

interface Counters {
  readonly sent: number;
  readonly ok: number;
  readonly failed: number;
  readonly throttled: number;
  readonly bytes: number;
  readonly tokens: number;
}

const NONE: Counters = { sent: 0, ok: 0, failed: 0, throttled: 0, bytes: 0, tokens: 0 };

/** Resets the waits of all gates: requests may wait for another gate than at the last look. */
const NO_WAITS = Object.fromEntries(GATES.map((gate) => [gate, 0]));

/**
 * The time line of one gate: at each look it adds the follower's new counts and the gate's state.
 */
export class GatePoints {
  readonly #timeline = new Timeline();
  #counted = NONE;

  /** The number of kept points. */
  get length(): number {
    return this.#timeline.length;
  }

  /** Requests sent a second, over the last seconds. */
  get perSecond(): number {
    return this.#timeline.mean('sent', RATE_SECONDS);
  }

  /** The last seconds, the oldest first. */
  last(count: number): readonly Point[] {
    return this.#timeline.last(count);
  }

  /** @param wallNow milliseconds since 1970 */
  put(follower: GateFollower, state: GateState, wallNow: number): void {
    const counted = countersOf(follower);
    const before = this.#counted;
    this.#counted = counted;
    const added = {
      sent: counted.sent - before.sent,
      ok: counted.ok - before.ok,
      failed: counted.failed - before.failed,
      throttled: counted.throttled - before.throttled,
      bytes: counted.bytes - before.bytes,
      tokens: counted.tokens - before.tokens,
    };
    this.#timeline.put(Math.floor(wallNow / 1_000), added, {
      ...ratesOf(state),
      inFlight: state.inFlight,
      limit: finite(state.limit),
      ...NO_WAITS,
      ...state.waitingBy,
    });
  }
}

function countersOf(follower: GateFollower): Counters {
  const { sentCount, okCount, failedCount, throttledCount, bytes, tokens } = follower;
  return {
    sent: sentCount,
    ok: okCount,
    failed: failedCount,
    throttled: throttledCount,
    bytes,
    tokens,
  };
}

/** The allowed requests a second, by the source of the limit. */
function ratesOf({ gate, rate }: GateState) {
  const origin = rate?.origin;
  const known = rate === undefined ? Number.NaN : finite(rate.perSecond);
  return {
    rateSet: gate.policies.rateLimit?.limits.perSecond('requests') ?? Number.NaN,
    rateTold: origin === 'headers' ? known : Number.NaN,
    rateLearned: origin === 'learned' ? known : Number.NaN,
  };
}

function finite(value: number): number {
  return Number.isFinite(value) ? value : Number.NaN;
}
