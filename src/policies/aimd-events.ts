/** `cooling`: the limit was lowered and is rising again. */
export type AimdState = 'running' | 'cooling';

export interface AimdSnapshot {
  readonly state: AimdState;
  readonly limit: number;
  readonly maxLimit: number;
  /** The bound of steps up: the limit at the last deceleration. */
  readonly ceiling: number;
  readonly intervalMs: number;
  /** Failures within the window, since the last deceleration. */
  readonly failures: number;
  /** The time until time alone changes the state; Infinity if it does not. */
  readonly nextChangeInMs: number;
}
