/** What part of the time lines is shown. Times in seconds since 1970. */

/** The last so many seconds, or a part that stands still. */
export type TimeRange =
  | { readonly isLive: true; readonly seconds: number }
  | { readonly isLive: false; readonly from: number; readonly to: number };

export const LONGEST_S = 900;

/** The last minute. */
export const NOW: TimeRange = { isLive: true, seconds: 60 };

/** A live chart shows so many at the least, and one that stands still so many. */
const LEAST_LIVE_S = 20;
const LEAST_S = 5;

/** The two ends. @param first the first second of which anything is known */
export function endsOf(range: TimeRange, first: number | undefined, now: number) {
  if (!range.isLive) return range;
  // A program that has just begun has no empty minute before it.
  const from = Math.max(now - range.seconds, Math.min(first ?? now, now - LEAST_LIVE_S));
  return { from, to: now };
}

/** A part that is not too short, and within what is known. */
export function between(from: number, to: number, now: number): TimeRange {
  const length = Math.min(LONGEST_S, Math.max(LEAST_S, to - from));
  const middle = (from + to) / 2;
  const end = Math.min(now, Math.max(middle + length / 2, now - LONGEST_S + length));
  return { isLive: false, from: end - length, to: end };
}

/** Half as long, or twice; what would be as long as all that is kept is live again. */
export function scaled(ends: Ends, factor: number, now: number): TimeRange {
  const length = (ends.to - ends.from) * factor;
  if (length >= LONGEST_S) return { isLive: true, seconds: LONGEST_S };
  const middle = (ends.from + ends.to) / 2;
  return between(middle - length / 2, middle + length / 2, now);
}

/** Half of its length earlier (-1), or later (1). */
export function moved({ from, to }: Ends, direction: -1 | 1, now: number): TimeRange {
  const by = ((to - from) / 2) * direction;
  return between(from + by, to + by, now);
}

interface Ends {
  readonly from: number;
  readonly to: number;
}
