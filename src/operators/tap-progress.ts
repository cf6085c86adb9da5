import { defer, type MonoTypeOperatorFunction, tap } from 'rxjs';
import { Progress, type ProgressOptions, type ProgressSnapshot } from '../core/progress.ts';
import { checkFunction, checkKeys, checkNumber } from '../model/check.ts';
import { type Clock, checkClock } from '../model/clock.ts';
import { systemClock } from '../queue/system-clock.ts';

/** Least time between two reports that reach no milestone. */
const DEFAULT_EVERY_MS = 1_000;

export interface TapProgressOptions extends ProgressOptions {
  /** Least time between two reports that reach no milestone, in ms, >= 0. Default 1000. */
  readonly everyMs?: number;
  /** Default: real time. */
  readonly clock?: Clock;
}

/** What `tapProgress` tells. */
export interface TappedProgress extends ProgressSnapshot {
  /** The milestone that was reached, in per cent; undefined: none was. */
  readonly milestone: number | undefined;
}

const KEYS = ['total', 'milestonePercent', 'rateWindowMs', 'everyMs', 'clock'] as const;

/**
 * Counts what passes, behind `throttle` or `dispatch`, and tells how far it has got: at each
 * milestone, once a second at the most otherwise, and when the stream ends. A failed `Outcome`
 * counts as failed. The ETA is what remains at the rate of the last minute; `limiter.progress$`
 * knows more, as it sees how many requests run at once.
 *
 * What passes is not changed. A listener that throws disturbs nothing; its error is thrown where
 * nobody else's work is.
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
  // What is wrong with the other options is found by making what they are for.
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

/** Whether it is an `Outcome` of a request that failed. */
function isFailed(value: unknown): boolean {
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
