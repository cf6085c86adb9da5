/** `cooling`: on the way back up from a deceleration. */
export type CoolingState = 'running' | 'cooling';

/** A change, with the time at which it was due. */
export type CoolingFact =
  | {
      readonly kind: 'decelerated' | 'reaccelerated';
      readonly at: number;
      readonly from: number;
      readonly to: number;
      readonly intervalMs: number;
    }
  | { readonly kind: 'coolingStarted'; readonly at: number; readonly untilAt: number }
  | {
      readonly kind: 'ceilingReset';
      readonly at: number;
      readonly from: number;
      readonly to: number;
    };

export interface CoolingSnapshot {
  readonly state: CoolingState;
  readonly limit: number;
  readonly maxLimit: number;
  /** What steps back up stop at: the limit at which it last went wrong. */
  readonly ceiling: number;
  readonly intervalMs: number;
  /** Within the window, since the last deceleration. */
  readonly failures: number;
  /** Until time alone changes something; Infinity: it does not. */
  readonly nextChangeInMs: number;
}
