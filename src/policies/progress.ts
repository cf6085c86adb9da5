import { checkBetween, checkInteger, checkNumber } from '../util/check.ts';
import { RecentWork } from './recent-work.ts';
import { RateWindow } from './rolling-window.ts';

/** Per cent between two milestones. */
export const DEFAULT_MILESTONE_PERCENT = 10;
/** The window of the rate. */
const DEFAULT_RATE_WINDOW_MS = 60_000;
/** How many durations the mean has. */
const DURATIONS = 50;

/** The total of requests, and the milestones to report. */
export interface ProgressOptions {
  /** How many requests there will be, an integer >= 0. Default: unknown. */
  readonly total?: number | undefined;
  /** Per cent between two milestones, an integer from 1 to 100. Default 10. */
  readonly milestonePercent?: number;
  /** The window of the rate, in milliseconds, >= 1000. Default 60,000. */
  readonly rateWindowMs?: number;
}

/** Unknown values are undefined; no number is NaN, infinite or negative. */
export interface ProgressSnapshot {
  readonly total: number | undefined;
  readonly completed: number;
  readonly failed: number;
  readonly remaining: number | undefined;
  /** The share of the total that has ended, from 0 to 100. */
  readonly percentage: number | undefined;
  /** Ended requests per second, in the recent window. */
  readonly ratePerSecond: number | undefined;
  /** The time until the last one ends, in ms, at the present parallelism. */
  readonly etaMs: number | undefined;
}

/**
 * The progress of a known or unknown number of requests. Requests that failed for good count as
 * done: they will not be sent again.
 *
 * Each milestone is reported once. A growing total lowers the percentage, but repeats no milestone.
 */
export class Progress {
  readonly #milestonePercent: number;
  readonly #rate: RateWindow;
  readonly #recent: RecentWork;
  /** The last durations, in a ring. */
  readonly #durationsMs: number[] = [];
  readonly #endedAt: number[] = [];
  #durations = 0;
  /** The start of the work whose durations are in the ring. */
  #since = 0;
  #total: number | undefined;
  #completed = 0;
  #failed = 0;
  /** The number of milestones reported so far. */
  #told = 0;

  /**
   * @param ended the number of requests that ended before
   * @throws RangeError or TypeError that names a wrong option
   */
  constructor(
    options: ProgressOptions,
    now: number,
    ended: { readonly completed: number; readonly failed: number } = { completed: 0, failed: 0 },
  ) {
    const { milestonePercent = DEFAULT_MILESTONE_PERCENT } = options;
    const { rateWindowMs = DEFAULT_RATE_WINDOW_MS } = options;
    checkInteger('milestonePercent', milestonePercent, 1);
    this.#milestonePercent = checkBetween('milestonePercent', milestonePercent, 1, 100);
    this.#rate = new RateWindow(checkNumber('rateWindowMs', rateWindowMs, 1000), now);
    this.#recent = new RecentWork(rateWindowMs);
    this.#total = checkTotal(options.total);
    this.#completed = ended.completed;
    this.#failed = ended.failed;
  }

  /**
   * A request has ended.
   * @param durationMs its duration; undefined if unknown, then it is not part of the mean
   * @returns the milestones that this reached, in per cent, in order
   */
  record(result: 'ok' | 'failed', durationMs: number | undefined, now: number): readonly number[] {
    if (durationMs !== undefined) {
      checkBetween('durationMs', durationMs, 0, Number.MAX_SAFE_INTEGER);
      const place = this.#durations % DURATIONS;
      if (this.#durations === 0) this.#since = now - durationMs;
      else if (this.#durations >= DURATIONS) this.#since = this.#endedAt[place] ?? now;
      this.#durationsMs[place] = durationMs;
      this.#endedAt[place] = now;
      this.#durations += 1;
      this.#recent.add(durationMs, now);
    }
    if (result === 'ok') this.#completed += 1;
    else this.#failed += 1;
    this.#rate.add(now);
    return this.#reached();
  }

  /**
   * Changes the total; undefined if it is unknown.
   * @returns the milestones that this reached, in per cent, in order
   */
  setTotal(total: number | undefined): readonly number[] {
    this.#total = checkTotal(total);
    return this.#reached();
  }

  /**
   * The ETA is the mean of the last 50 durations x the remaining count / the parallelism. The
   * parallelism is the sum of these durations / the time in which they ended (Little's law), since
   * a count at one moment says little if requests come in bursts. If that time is shorter than the
   * window of the rate, all durations in that window are taken: a limit a minute may let hundreds of
   * requests pass at once, and none until the minute is over.
   *
   * @param parallelism the present parallelism, used while no time has passed
   */
  snapshot(now: number, parallelism: number): ProgressSnapshot {
    const remaining =
      this.#total === undefined ? undefined : Math.max(0, this.#total - this.#ended);
    return {
      total: this.#total,
      completed: this.#completed,
      failed: this.#failed,
      remaining,
      percentage: this.#percentage,
      ratePerSecond: this.#rate.perSecond(now),
      etaMs: remaining === undefined ? undefined : this.#etaMs(remaining, parallelism, now),
    };
  }

  get #ended(): number {
    return this.#completed + this.#failed;
  }

  get #percentage(): number | undefined {
    if (this.#total === undefined) return undefined;
    if (this.#ended >= this.#total) return 100;
    return (this.#ended * 100) / this.#total;
  }

  #etaMs(remaining: number, parallelism: number, now: number): number | undefined {
    if (remaining === 0) return 0;
    if (this.#durations === 0) return undefined;
    const sumMs = this.#durationsMs.reduce((sum, durationMs) => sum + durationMs, 0);
    const last = { sumMs, spanMs: now - this.#since };
    const recent = this.#recent.measure(now) ?? last;
    const work = recent.spanMs > last.spanMs ? recent : last;
    const atOnce = work.spanMs > 0 && work.sumMs > 0 ? work.sumMs / work.spanMs : parallelism;
    if (!(atOnce > 0)) return undefined;
    const etaMs = ((sumMs / this.#durationsMs.length) * remaining) / atOnce;
    return Number.isFinite(etaMs) ? etaMs : undefined;
  }

  /** 100 % is a milestone, even if it is not a multiple of the step. */
  #reached(): number[] {
    // An empty total has no percentage.
    const percentage = this.#total === 0 ? 0 : (this.#percentage ?? 0);
    const step = this.#milestonePercent;
    const last = Math.ceil(100 / step);
    const count = percentage === 100 ? last : Math.floor(percentage / step);
    const reached: number[] = [];
    while (this.#told < count) {
      this.#told += 1;
      reached.push(this.#told === last ? 100 : this.#told * step);
    }
    return reached;
  }
}

function checkTotal(total: number | undefined): number | undefined {
  return total === undefined ? undefined : checkInteger('total', total, 0);
}
