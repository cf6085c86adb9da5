/** The part of the time lines that charts show. Times in seconds since 1970. */

/** The last seconds (live), or a fixed part. */
export type TimeRange =
  | { readonly isLive: true; readonly seconds: number }
  | { readonly isLive: false; readonly from: number; readonly to: number };

export const LONGEST_S = 900;

/** The last minute. */
export const NOW: TimeRange = { isLive: true, seconds: 60 };

/** The shortest range of a live chart, and of a fixed one. */
const LEAST_LIVE_S = 20;
const LEAST_S = 5;

/** The two ends of a range. @param first the first second with data; undefined: there is none */
export function endsOf(range: TimeRange, first: number | undefined, now: number) {
  if (!range.isLive) return range;
  // If the program has just begun, the time before it is not shown.
  const from = Math.max(now - range.seconds, Math.min(first ?? now, now - LEAST_LIVE_S));
  return { from, to: now };
}

/** A fixed part, at least as long as the shortest range, and within the kept time. */
export function between(from: number, to: number, now: number): TimeRange {
  const length = Math.min(LONGEST_S, Math.max(LEAST_S, to - from));
  const middle = (from + to) / 2;
  const end = Math.min(now, Math.max(middle + length / 2, now - LONGEST_S + length));
  return { isLive: false, from: end - length, to: end };
}

/** A part with its length times a factor. If it would be as long as the kept time, it is live. */
export function scaled(ends: Ends, factor: number, now: number): TimeRange {
  const length = (ends.to - ends.from) * factor;
  if (length >= LONGEST_S) return { isLive: true, seconds: LONGEST_S };
  const middle = (ends.from + ends.to) / 2;
  return between(middle - length / 2, middle + length / 2, now);
}

/** A part moved by half of its length, to earlier (-1) or to later (1). */
export function moved({ from, to }: Ends, direction: -1 | 1, now: number): TimeRange {
  const by = ((to - from) / 2) * direction;
  return between(from + by, to + by, now);
}

interface Ends {
  readonly from: number;
  readonly to: number;
}
