import type { ReportedLimit } from '../../../model/feedback.ts';

/** A limit whose end moves this often before it is reached refills gradually. */
const MOVES = 2;
/** The greatest rounding of resets. */
const ROUNDED_MS = 1_500;

/**
 * The number of limits kept: a server may report another window each time. The oldest are dropped.
 */
const MOST_LIMITS = 16;

/**
 * The latest time at which a limit should be full again, and how often it moved before it was
 * reached.
 */
interface End {
  latest: number;
  moves: number;
}

/**
 * Reported limits that do not set the pace, such as an hourly limit beside one per minute. Finds
 * those that refill gradually, as buckets and sliding windows do: each request delays the time at
 * which they are full again. The end of a fixed window stays until it is reached.
 */
export class OtherLimits {
  readonly #ends = new Map<string, End>();

  /** @param at when the attempt was sent whose answer reports the limit */
  report(limit: ReportedLimit, at: number, now: number): void {
    const { resetMs, isResetTime } = limit;
    if (resetMs === undefined) return;
    const key = keyOf(limit);
    const latest = now + resetMs;
    // A duration counts from the unknown moment at which the provider checked the limit.
    const earliest = isResetTime === true ? latest : at + resetMs;
    const end = this.#ends.get(key);
    if (end === undefined) this.#add(key, { latest, moves: 0 });
    else if (earliest - ROUNDED_MS <= end.latest) end.latest = Math.min(end.latest, latest);
    else {
      if (now < end.latest - ROUNDED_MS) end.moves += 1;
      end.latest = latest;
    }
  }

  /**
   * Whether the limit admits requests before it is full again; undefined if it was not reported.
   */
  refillsGradually(limit: ReportedLimit): boolean | undefined {
    const end = this.#ends.get(keyOf(limit));
    return end && end.moves >= MOVES;
  }

  #add(key: string, end: End): void {
    this.#ends.set(key, end);
    const [oldest] = this.#ends.keys();
    if (this.#ends.size > MOST_LIMITS && oldest !== undefined) this.#ends.delete(oldest);
  }
}

function keyOf({ unit, windowMs = 0 }: ReportedLimit): string {
  return `${unit} ${windowMs}`;
}
