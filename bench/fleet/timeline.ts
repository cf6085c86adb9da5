/** Computes figures from the send times of a fleet's workers. All times in milliseconds. */
import type { Sends } from './send-log.ts';

export function sorted(times: Iterable<number>): Float64Array {
  return Float64Array.from(times).sort();
}

/** The most requests that were sent in any window, wherever the window begins. */
export function mostInWindow(times: Float64Array, windowMs: number): number {
  let most = 0;
  let first = 0;
  times.forEach((at, index) => {
    while (at - (times[first] as number) >= windowMs) first += 1;
    most = Math.max(most, index - first + 1);
  });
  return most;
}

/** How many of the times are in [from, until). */
export function countBetween(times: Float64Array, from: number, until: number): number {
  return lowerBound(times, until) - lowerBound(times, from);
}

/**
 * The time after a moment until a fleet sends at a rate again: until a span has that many requests.
 * @returns Infinity: not within the logged time
 */
export function fullRateAfter(
  times: Float64Array,
  from: number,
  until: number,
  spanMs: number,
  wanted: number,
): number {
  const last = until - spanMs;
  for (let at = from; at <= last; at += 5) {
    if (countBetween(times, at, at + spanMs) >= wanted) return at - from;
  }
  return Number.POSITIVE_INFINITY;
}

/** Jain's index of fairness: 1 means equal shares, 1/n means that one worker gets everything. */
export function jain(values: readonly number[]): number {
  const sum = values.reduce((a, b) => a + b, 0);
  const squares = values.reduce((a, b) => a + b * b, 0);
  return squares === 0 ? 0 : (sum * sum) / (values.length * squares);
}

/** A worker's requests, and when it was killed. */
export interface Flights extends Sends {
  readonly killedAt?: number;
}

/** The number of requests in flight from a moment on. */
export interface InFlight {
  readonly at: number;
  readonly requests: number;
}

/** The requests in flight of all workers. Those of a killed worker end when it is killed. */
export function inFlightOf(workers: readonly Flights[]): InFlight[] {
  const changes: [at: number, by: number][] = [];
  for (const { sent, ended, killedAt } of workers) {
    for (const at of sent) changes.push([at, 1]);
    for (const at of ended) changes.push([at, -1]);
    const left = sent.length - ended.length;
    if (killedAt !== undefined && left > 0) changes.push([killedAt, -left]);
  }
  // At the same moment, count ends before starts.
  changes.sort(([at, by], [other, more]) => at - other || by - more);
  let requests = 0;
  return changes.map(([at, by]) => {
    requests += by;
    return { at, requests };
  });
}

/** The quantile of the values; NaN: there are none. */
export function quantile(values: Float64Array, part: number): number {
  return values[Math.min(values.length - 1, Math.floor(values.length * part))] ?? Number.NaN;
}

function lowerBound(times: Float64Array, value: number): number {
  let low = 0;
  let high = times.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((times[middle] as number) < value) low = middle + 1;
    else high = middle;
  }
  return low;
}
