import type { Closure } from '../attempts/closure.ts';
import { CLOSED_PART } from './first-stop.ts';
import type { OpenTime } from './open-time.ts';

/** The time from the end of one closure to the end of the next. */
export interface Cycle {
  /** When the closure before it ended. */
  readonly startedAt: number;
  /** The time from the last rejection of that closure to its end, in ms. */
  readonly gapMs: number;
  /** Attempts that were accepted by the pace. */
  readonly accepted: number;
  /** The time with demand until the closure began, the time of the closure, and both, in ms. */
  readonly openMs: number;
  readonly closedMs: number;
  readonly ms: number;
  /** The time without demand, and the delay of the attempt that found the closure over, in ms. */
  readonly idleMs: number;
  readonly lateMs: number;
  /** The pace at which the closure began, per ms, without attempts that are rejected by chance. */
  readonly pacePerMs: number;
  /** Whether the rejections of the closure look like those of an outage. */
  readonly isOutage: boolean;
  /** When the provider was last known to be closed, and when it was known to be open again. */
  readonly from: number;
  readonly to: number;
}

/** A closure of at most this number of intervals is that of a limit that refills gradually. */
const SHORT_INTERVALS = 4;

/**
 * @param perMs the measured rate
 * @param share the share of attempts that is rejected by chance
 */
export function cycleOf(
  closure: Closure,
  open: OpenTime,
  perMs: number,
  share: number,
  from: number,
  to: number,
): Cycle {
  const { byPace, lateMs, isOutage } = closure;
  const closedMs = to - closure.startedAt - lateMs;
  // A limit that refills gradually saves capacity without demand, a used-up window does not.
  const refillMs = closedMs * perMs <= SHORT_INTERVALS ? closure.refillMs : 0;
  const openMs = open.openMs(closure) + refillMs;
  const idleMs = closure.idleMs - refillMs;
  return {
    startedAt: open.startedAt,
    gapMs: open.gapMs,
    accepted: byPace,
    openMs,
    closedMs,
    ms: openMs + closedMs,
    idleMs,
    lateMs,
    pacePerMs: closure.pacePerMs * (1 - share),
    isOutage,
    from,
    to,
  };
}

/** Whether it ends with a closure as long as that of a used-up window. */
export function isOfWindow({ closedMs, ms }: Cycle): boolean {
  return closedMs > CLOSED_PART * ms;
}
