import type { GrantReply } from './protocol.ts';

/** The weight of the last request in a mean. */
const SMOOTHING = 0.1;
/** The window in which the rate of requests is measured, in ms. */
const WINDOW_MS = 50;

/** The mean costs and the rate of this worker's requests. */
export class DemandMeter {
  costs: number[] = [];
  bytes = 0;
  slots = 1;
  tokens = 0;
  /** Requests a ms, over the last windows. */
  perMs = 0;
  private count = 0;
  private since = 0;

  sent(costs: readonly number[], slots: number, bytes: number, now: number): void {
    this.costs = costs.map((cost, place) => mean(this.costs[place], cost));
    this.slots = mean(this.slots, slots);
    this.bytes = mean(this.bytes, bytes);
    this.look(now);
    this.count += 1;
  }

  /** Ends windows that are over. */
  look(now: number): void {
    const elapsed = now - this.since;
    if (elapsed < WINDOW_MS) return;
    const last = this.count / Math.max(elapsed, WINDOW_MS);
    this.perMs = elapsed > 4 * WINDOW_MS ? last : (this.perMs + last) / 2;
    this.count = 0;
    this.since = now;
  }
}

function mean(before: number | undefined, now: number): number {
  if (before === undefined || before === now) return now;
  return Math.ceil(before + (now - before) * SMOOTHING);
}

/** The time between two calls under load, in ms, and the number of requests that a call is for. */
export const SHORTEST_TICK_MS = 10;
const LONGEST_TICK_MS = 50;
const REQUESTS_A_CALL = 30;
/** If something is short, the next call comes after this time at the earliest, in ms. */
const SHORT_MS = 25;
/** From this rate on, in requests a ms, calls come at steady intervals and ask ahead. */
const BUSY_PER_MS = 0.1;
/** How far ahead a call asks, in intervals. */
const AHEAD = 2;

/** The next call for waiting requests comes after this time at the earliest, in ms. */
export const URGENT_MS = 5;

/** The data from which the time of the next call is computed. */
export interface CallState {
  readonly meter: DemandMeter;
  readonly last: GrantReply | undefined;
  readonly ttlMs: number;
  /** When the last call was made, and when the last grant is due in full. */
  readonly sentAt: number;
  readonly lastDueAt: number;
  /** Whether the request that the last call was for still waits: the reply was not enough. */
  readonly isSameHead: boolean;
}

/** The shortest time from a call to the next one for waiting requests, in ms. */
export function shortestGapMs(state: CallState): number {
  const { last, meter, ttlMs } = state;
  if (last !== undefined && last.why !== '') {
    // The store grants nothing to any worker before this time.
    const closedMs = Math.max(last.closed, last.held, last.broken) / 1_000;
    if (closedMs > 0) return Math.min(closedMs, ttlMs / 4);
    // When half of the reserved time has passed, more can be reserved.
    const reservedMs = (state.lastDueAt - state.sentAt) / 2;
    return Math.min(ttlMs / 4, Math.max(SHORT_MS, reservedMs));
  }
  if (state.isSameHead) return URGENT_MS;
  return isBusy(meter) ? URGENT_MS : 0;
}

/** The time between two calls of a worker that has changes to report, in ms. */
export function tickMs(meter: DemandMeter): number {
  if (!isBusy(meter)) return LONGEST_TICK_MS;
  return Math.min(LONGEST_TICK_MS, Math.max(SHORTEST_TICK_MS, REQUESTS_A_CALL / meter.perMs));
}

/** The number of requests to ask for in advance, before they wait. */
export function requestsAhead(meter: DemandMeter): number {
  return isBusy(meter) ? Math.ceil(meter.perMs * tickMs(meter) * AHEAD) : 0;
}

function isBusy({ perMs }: DemandMeter): boolean {
  return perMs >= BUSY_PER_MS;
}
