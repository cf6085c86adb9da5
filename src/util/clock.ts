import { checkMethods } from './check.ts';

/** A timer that was set on a {@link Clock}. Cancelling it twice, or after it fired, does nothing. */
export interface Timer {
  cancel(): void;
}

/**
 * Where gates read the time. `now()` is monotonic milliseconds from any origin;
 * `setTimer` calls back once, `delayMs` from now, never before it returned.
 *
 * The default is `systemClock`; `ManualClock` and `schedulerClock` in `headgate/simulator`
 * run the same gates in virtual time.
 */
export interface Clock {
  now(): number;
  /**
   * @param keepAlive whether the process must stay up for this timer. Default true: a request waits for it.
   */
  setTimer(callback: () => void, delayMs: number, keepAlive?: boolean): Timer;
}

/** @throws TypeError for what is no clock */
export function checkClock(clock: unknown): void {
  if (clock !== undefined) checkMethods('clock', clock, ['now', 'setTimer']);
}

/** A source of numbers in [0, 1), as `Math.random`. */
export type Random = () => number;
