import type { FleetRequest } from './fleet-hooks.ts';

/** The weight of the last request in a mean. */
const SMOOTHING = 0.1;
/** The window in which the rate of requests is measured, in ms. */
const WINDOW_MS = 50;

/** The mean costs and the rate of this worker's requests. */
export class DemandMeter {
  costs: number[] = [];
  bytes = 0;
  slots = 1;
  /** Undefined: no request was sent yet. */
  tokens: number | undefined = undefined;
  /** Requests a ms, over the last windows. */
  perMs = 0;
  private count = 0;
  private since = 0;

  sent({ slots, bytes, tokens }: FleetRequest, costs: readonly number[], now: number): void {
    this.costs = costs.map((cost, place) => mean(this.costs[place], cost));
    this.slots = mean(this.slots, slots);
    this.bytes = mean(this.bytes, bytes);
    this.tokens = mean(this.tokens, tokens);
    this.look(now);
    this.count += 1;
  }

  /** Ends windows that are over. */
  look(now: number): void {
    const elapsed = now - this.since;
    if (elapsed < WINDOW_MS) return;
    const last = this.count / elapsed;
    this.perMs = elapsed > 4 * WINDOW_MS ? last : (this.perMs + last) / 2;
    this.count = 0;
    this.since = now;
  }
}

function mean(before: number | undefined, now: number): number {
  if (before === undefined) return now;
  return Math.ceil(before + (now - before) * SMOOTHING);
}
