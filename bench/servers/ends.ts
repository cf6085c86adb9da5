/** Counts how often each request has ended, as its client reports. */

export interface Ends {
  /** The number of requests with an end. */
  readonly ended: number;
  /** The number of requests that failed. */
  readonly failed: number;
  /** The number of ends of requests that had ended before. */
  readonly again: number;
}

/** Counts ends: `ended` is called with each, and `counts` returns the numbers so far. */
export function countEnds() {
  const seen = new Set<number>();
  let failed = 0;
  let again = 0;
  return {
    ended: (request: number, isOk: boolean) => {
      if (seen.has(request)) again++;
      else if (!isOk) failed++;
      seen.add(request);
    },
    counts: (): Ends => ({ ended: seen.size, failed, again }),
  };
}
