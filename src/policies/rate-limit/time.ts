/** The next floating-point number above. */
function next(value: number): number {
  return value + Math.abs(value) * 0.75 * Number.EPSILON;
}

/**
 * `startMs + lengthMs`, rounded up where it cannot be stored: a window must not end early.
 * The rounding error comes from Knuth's exact sum of two numbers (TAOCP 2, 4.2.2).
 */
export function endOf(startMs: number, lengthMs: number): number {
  const sum = startMs + lengthMs;
  const added = sum - startMs;
  const lost = startMs - (sum - added) + (lengthMs - added);
  return lost > 0 ? next(sum) : sum;
}

/** The wait from `now` to a later time, such that `now + wait` is not rounded to before it. */
export function waitUntil(time: number, now: number): number {
  let waitMs = time - now;
  while (now + waitMs < time) waitMs = next(waitMs);
  return waitMs;
}
