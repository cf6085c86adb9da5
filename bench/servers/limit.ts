/** The limits of servers, and the best possible time under each. */

export type Limit = SpacedLimit | WindowLimit | SlidingLimit | InFlightLimit;

/** Evenly spaced requests, with a burst. */
export interface SpacedLimit {
  readonly kind: 'spaced';
  readonly perSecond: number;
  /** The number of requests accepted at once after a pause, >= 1. */
  readonly burst: number;
  /** Whether the server also answers a burst evenly spaced. */
  readonly isDelayed?: true;
}

/** A fixed window that begins with its first request. */
export interface WindowLimit {
  readonly kind: 'window';
  readonly limit: number;
  readonly windowMs: number;
}

/** A sliding window: requests of the last window count by the share that is not yet over. */
export interface SlidingLimit {
  readonly kind: 'sliding';
  readonly limit: number;
  readonly windowMs: number;
}

/** A limit of requests in flight. */
export interface InFlightLimit {
  readonly kind: 'in-flight';
  readonly limit: number;
}

/**
 * The time of a client with full knowledge of the limit and the server, from the first request to
 * the last answer, in milliseconds.
 *
 * @param latencyMs the time in which the server answers an accepted request
 */
export function idealMs(limit: Limit, latencyMs: number, requests: number): number {
  if (limit.kind === 'in-flight') return Math.ceil(requests / limit.limit) * latencyMs;
  return lastSendMs(limit, requests) + latencyMs;
}

/** When the last request can be accepted. */
function lastSendMs(limit: Exclude<Limit, InFlightLimit>, requests: number): number {
  switch (limit.kind) {
    case 'spaced': {
      const atOnce = limit.isDelayed ? 1 : limit.burst;
      return (Math.max(0, requests - atOnce) * 1000) / limit.perSecond;
    }
    case 'window':
      return Math.floor((requests - 1) / limit.limit) * limit.windowMs;
    case 'sliding': {
      // The first window was used at once, so the second opens at the rate at which the first
      // expires.
      const later = Math.max(0, requests - limit.limit);
      return later === 0 ? 0 : limit.windowMs * (1 + later / limit.limit);
    }
  }
}
