/** What a server lets in, and what a client that knew everything would make of it. */

export type Limit = SpacedLimit | WindowLimit | SlidingLimit | InFlightLimit;

/** Requests come at even distances, apart from a burst. */
export interface SpacedLimit {
  readonly kind: 'spaced';
  readonly perSecond: number;
  /** How many are let in at once after a rest, >= 1. */
  readonly burst: number;
  /** The server answers a burst at even distances, too. */
  readonly isDelayed?: true;
}

/** A window begins with its first request; then all are let in anew. */
export interface WindowLimit {
  readonly kind: 'window';
  readonly limit: number;
  readonly windowMs: number;
}

/** Requests of the window before count by the part of it that is not yet over. */
export interface SlidingLimit {
  readonly kind: 'sliding';
  readonly limit: number;
  readonly windowMs: number;
}

/** So many may run at once. */
export interface InFlightLimit {
  readonly kind: 'in-flight';
  readonly limit: number;
}

/**
 * How long a client that knows limit and server exactly takes, from the first request sent to the
 * last answer, in milliseconds.
 *
 * @param latencyMs how long the server takes over a request that it lets in
 */
export function idealMs(limit: Limit, latencyMs: number, requests: number): number {
  if (limit.kind === 'in-flight') return Math.ceil(requests / limit.limit) * latencyMs;
  return lastSendMs(limit, requests) + latencyMs;
}

/** When the last of the requests can be let in. */
function lastSendMs(limit: Exclude<Limit, InFlightLimit>, requests: number): number {
  switch (limit.kind) {
    case 'spaced': {
      const atOnce = limit.isDelayed ? 1 : limit.burst;
      return (Math.max(0, requests - atOnce) * 1000) / limit.perSecond;
    }
    case 'window':
      return Math.floor((requests - 1) / limit.limit) * limit.windowMs;
    case 'sliding': {
      // The second window opens as fast as the first, sent at once, is forgotten.
      const later = Math.max(0, requests - limit.limit);
      return later === 0 ? 0 : limit.windowMs * (1 + later / limit.limit);
    }
  }
}
