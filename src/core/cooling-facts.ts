/** `cooling`: on the way back up from a deceleration. */
export type CoolingState = 'running' | 'cooling';

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
