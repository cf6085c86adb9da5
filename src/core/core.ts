/** What a core needs to know of a request. */
export interface Demand {
  readonly bytes: number;
  readonly tokens: number;
}

/**
 * A pure state machine that says when a request may pass. It has no timer, no clock and no queue:
 * the gate around it waits.
 */
export interface Core {
  /**
   * How long the request must wait, asked of the request at the head of the queue.
   * @returns 0: it may pass now. A number of milliseconds: ask again then, or after something was
   * given back. Infinity: ask again when something was given back.
   */
  wait(demand: Demand, now: number): number;
  /** Charges a request that need not wait. Returns the charge; 0 if there is nothing to give back. */
  take(demand: Demand, now: number): number;
  /** Takes a charge back. */
  giveBack(charge: number): void;
  /** The state in plain numbers, for people and gauges. */
  snapshot(now: number): object;
}

/** Until when requests are to be held back more than usual: shared by the gates that mind. */
export interface ModeState {
  /** Throttled mode ends at this time of the clock; -Infinity if there was none. */
  readonly throttledUntil: number;
}

/** For gates that know of no provider. */
export const ALWAYS_NORMAL: ModeState = { throttledUntil: Number.NEGATIVE_INFINITY };
