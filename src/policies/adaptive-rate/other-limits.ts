import type { ReportedLimit } from '../../model/feedback.ts';

/** An end that moves this often before it is reached is no end. */
const MOVES = 2;
/** The greatest rounding of resets. */
const ROUNDED_MS = 1_500;

/** Servers that report another window each time would fill the memory: the oldest are dropped. */
const MOST_LIMITS = 16;

/** The latest time at which a limit would be whole again, and how often that was too early. */
interface End {
  latest: number;
  moves: number;
}

/**
 * The limits that answers report beside those that set the pace, such as the hourly one beside that of
 * a minute. It finds out which of them refill gradually, as buckets and sliding windows do: with each
 * request they are whole again later. The end of a fixed window stays until it is reached.
 */
export class OtherLimits {
  readonly #ends = new Map<string, End>();

  /** @param at when the attempt was sent whose answer reports the limit */
  report(limit: ReportedLimit, at: number, now: number): void {
    const { resetMs, isResetTime } = limit;
    if (resetMs === undefined) return;
    const key = keyOf(limit);
    const latest = now + resetMs;
    // A duration counts from the moment at which the provider checked the limit, which is not known.
    const earliest = isResetTime === true ? latest : at + resetMs;
    const end = this.#ends.get(key);
    if (end === undefined) this.#add(key, { latest, moves: 0 });
    else if (earliest - ROUNDED_MS <= end.latest) end.latest = Math.min(end.latest, latest);
    else {
      if (now < end.latest - ROUNDED_MS) end.moves += 1;
      end.latest = latest;
    }
  }

  /** Whether the limit lets requests in before it is whole again; undefined: it was not reported. */
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
