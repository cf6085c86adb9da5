import type { ReportedLimit } from '../../../model/feedback.ts';

/** Resets are reported in whole seconds, until one is not. */
const SECOND_MS = 1_000;
/** The error of a reset in whole seconds, and otherwise: the delay of the network. */
const WHOLE_SECOND_ERROR_MS = 1_500;
const EXACT_ERROR_MS = 5;
/**
 * Two answers may report one end so far apart if it is a time: its seconds are rounded, and those of
 * the answer's date, too.
 */
const TIMES_APART_MS = 2_000;

/** When a limit is full again, according to one report. */
export interface ReportedReset {
  /** Whether the report shows that: it has a reset, and one beyond its rounding. */
  readonly tellsReset: boolean;
  /** The time from the sending of the attempt until then; NaN if no reset is reported. */
  readonly resetMs: number;
  /** The greatest error of that time. */
  readonly roundedMs: number;
  /** The greatest distance between two reports of one end. */
  readonly apartMs: number;
  /** The reported time, with its greatest error; NaN if there is none. */
  readonly fullMs: number;
  /** The bounds of the end, without rounding; NaN if no reset is reported. */
  readonly earliestEnd: number;
  readonly latestEnd: number;
}

/** Reads the reported resets of a limit, and finds out how they are rounded. */
export class ResetTimes {
  /** The greatest error of resets that are durations. */
  roundedMs = WHOLE_SECOND_ERROR_MS;
  /** The longest reported reset; 0 if there was none. */
  longestMs = 0;

  /** @param at when the attempt was sent, and `now` when its answer came */
  read(limits: ReportedLimit, at: number, now: number): ReportedReset {
    const isTime = limits.isResetTime === true;
    const { windowMs, resetMs } = limits;
    if (resetMs !== undefined) {
      if (!isTime && resetMs % SECOND_MS !== 0) this.roundedMs = EXACT_ERROR_MS;
      this.longestMs = Math.max(this.longestMs, resetMs);
    }
    const roundedMs = isTime ? WHOLE_SECOND_ERROR_MS : this.roundedMs;
    // Resets within their rounding show nothing, as whole seconds of a window of a second.
    const isVague = windowMs === undefined && this.longestMs <= roundedMs;
    const lastsMs = resetMs ?? Number.NaN;
    // A time counts from the answer, a duration from the moment at which the limit was checked.
    const earliestEnd = (isTime ? now : at) + lastsMs;
    return {
      tellsReset: resetMs !== undefined && !isVague,
      resetMs: earliestEnd - at,
      roundedMs,
      apartMs: isTime ? TIMES_APART_MS : roundedMs,
      fullMs: lastsMs + roundedMs,
      earliestEnd,
      latestEnd: now + lastsMs,
    };
  }
}
