/** Counts how often each request has ended, as its client was told. */

export interface Ends {
  /** Requests of which the client was told an end. */
  readonly ended: number;
  /** Those that did not end well. */
  readonly failed: number;
  /** Ends of a request that had ended before. */
  readonly again: number;
}

/** Counts ends: `ended` is told each, and `counts` returns what it was told so far. */
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
