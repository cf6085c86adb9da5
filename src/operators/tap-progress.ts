import { defer, type MonoTypeOperatorFunction, tap } from 'rxjs';
import { Progress, type ProgressOptions, type ProgressSnapshot } from '../policies/progress.ts';
import { isFailedResponse } from '../providers/shape.ts';
import { checkFunction, checkKeys, checkNumber } from '../util/check.ts';
import { type Clock, checkClock, systemClock } from '../util/clock.ts';

/** The default of `everyMs`. */
const DEFAULT_EVERY_MS = 1_000;

/** Options of `tapProgress`. */
export interface TapProgressOptions extends ProgressOptions {
  /** The least time between two reports without a milestone, in ms, >= 0. Default 1000. */
  readonly everyMs?: number;
  /** Default: real time. */
  readonly clock?: Clock;
}

/** A report of `tapProgress`. */
export interface TappedProgress extends ProgressSnapshot {
  /** The reached milestone, in per cent; undefined if none was reached. */
  readonly milestone: number | undefined;
}

const KEYS = ['total', 'milestonePercent', 'rateWindowMs', 'everyMs', 'clock'] as const;

/**
 * Counts the results after `throttle` or `dispatch`, and reports the progress: at each milestone,
 * otherwise at most once a second, and when the stream ends. A failed `Outcome` counts as failed,
 * and so does a `Response` that is not ok. The ETA is the remaining count at the rate of the last
 * minute; `limiter.progress$` is more exact, since it knows how many requests run at once.
 *
 * The values are not changed. A listener that throws affects nothing; its error is thrown in a turn
 * of its own.
 *
 * @throws RangeError or TypeError that names a wrong option
 * @example
 * prompts$.pipe(throttle(send), tapProgress(({ percentage }) => console.log(percentage), { total }))
 */
export function tapProgress<T>(
  listener: (progress: TappedProgress) => void,
  options: TapProgressOptions = {},
): MonoTypeOperatorFunction<T> {
  checkFunction('listener', listener);
  checkKeys('tapProgress', options, KEYS);
  const { everyMs = DEFAULT_EVERY_MS, clock = systemClock } = options;
  checkNumber('everyMs', everyMs, 0);
  checkClock(clock);
  // Construct once, so that wrong options throw here.
  new Progress(options, 0);
  return (source) =>
    defer(() => {
      const progress = new Progress(options, clock.now());
      let reportedAt = Number.NEGATIVE_INFINITY;
      const report = (now: number, milestone?: number) => {
        reportedAt = now;
        const snapshot = progress.snapshot(now, 0);
        const { remaining, ratePerSecond } = snapshot;
        const etaMs = remaining === undefined ? undefined : etaOf(remaining, ratePerSecond);
        tell(listener, { ...snapshot, etaMs, milestone });
      };
      return source.pipe(
        tap({
          next: (value) => {
            const now = clock.now();
            const milestones = progress.record(isFailed(value) ? 'failed' : 'ok', undefined, now);
            for (const percent of milestones) report(now, percent);
            if (milestones.length === 0 && now - reportedAt >= everyMs) report(now);
          },
          error: () => report(clock.now()),
          complete: () => report(clock.now()),
        }),
      );
    });
}

function etaOf(remaining: number, ratePerSecond: number | undefined): number | undefined {
  if (remaining === 0) return 0;
  return ratePerSecond ? (remaining * 1_000) / ratePerSecond : undefined;
}

/** Whether it is the `Outcome` of a failed request, or a `Response` that is not ok. */
function isFailed(value: unknown): boolean {
  if (isFailedResponse(value)) return true;
  return (
    typeof value === 'object' &&
    value !== null &&
    'status' in value &&
    value.status === 'failed' &&
    'error' in value &&
    'stats' in value
  );
}

function tell(listener: (progress: TappedProgress) => void, progress: TappedProgress): void {
  try {
    listener(progress);
  } catch (error) {
    queueMicrotask(() => {
      throw error;
    });
  }
}
