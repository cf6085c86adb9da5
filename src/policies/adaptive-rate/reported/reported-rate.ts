import { bucketLeft, bucketWait, unmeasuredAt } from './bucket-limit.ts';
import { EXACT_PART, LEAST_FACTOR, MOST_FACTOR } from './drifting-rate.ts';
import { LimitReports } from './limit-reports.ts';
import {
  holdsLimit,
  isSmall,
  LEAST_SPARE,
  leftOf,
  type Report,
  savedOf,
  spareOf,
} from './report.ts';
import type { WindowKind } from './window-classifier.ts';

/** A limit with this share left does not limit for now, whatever its kind. */
const PLENTY = 0.5;
/** The share of what is left that makes up for unused time. */
const UNUSED_PART = 0.5;

/**
 * The rate that a provider's reports allow, so that a little of the limit stays unused. It follows
 * from the kind of the limit, as far as the reports show that.
 */
export class ReportedRate extends LimitReports {
  /** Until this total amount is sent, what was saved in a time without demand is sent at once. */
  #atOnceUntil = Number.NEGATIVE_INFINITY;

  /**
   * By which kind of limit the last report is read; undefined: only the amount left is known. A
   * limit of unclear kind counts as a window that is full again at one time, until its end moves.
   */
  get #kind(): WindowKind | undefined {
    if (this.last?.tellsReset !== true) return undefined;
    return this.kind ?? (this.window.isMoving ? 'sliding' : 'fixed');
  }

  /**
   * There was no demand until now: the amount left was saved.
   * @param total as for {@link rateAt}
   */
  resumed(total: number, now: number): void {
    this.window.resumed(total, now);
    const { last } = this;
    if (last === undefined) return;
    this.#atOnceUntil = total + last.limit;
    if (this.kind !== 'bucket') return;
    this.#countFrom(last, savedOf(last, this, total, now), total, now);
  }

  /**
   * The limit divided by its window, or by a minute if none is reported; undefined if none was
   * reported lately.
   */
  toldPerMs(now: number): number | undefined {
    const report = this.fresh(now);
    return report && report.limit / report.windowMs;
  }

  /** The rate of the whole limit, by the reported times; undefined if none was reported lately. */
  usualPerMs(now: number): number | undefined {
    const { share, window } = this;
    if (this.fresh(now) === undefined) return undefined;
    if (this.#kind === 'fixed') return window.usualPerMs;
    return share.perMs === undefined ? undefined : share.wholePerMs;
  }

  /**
   * The rate of the whole limit, including the use by other processes; 0 if none was reported
   * lately, or if each request uses the limit up.
   */
  wholePerMs(now: number): number {
    const report = this.fresh(now);
    if (report === undefined) return 0;
    const { limit, windowMs, at, earliestEnd, fullPerMs } = report;
    const { highest, resets } = this;
    // A bucket that is full again so soon holds a single request.
    const holdsOne = (earliestEnd - at - resets.roundedMs) * (limit / windowMs) < 2;
    // Nothing is ever left of a limit on the distance between requests, whatever others use.
    if (highest < 1 && (holdsOne || isSmall(report, this))) return 0;
    if (this.kind !== 'bucket') return this.usualPerMs(now) ?? 0;
    // The measured refill of a bucket excludes what others use. A bucket that holds less than its
    // limit is full sooner than after its window.
    return holdsLimit(limit, highest) ? fullPerMs : Math.min(fullPerMs, limit / windowMs);
  }

  /** Whether the amount left may be sent at once, and then nothing until the next report. */
  get isExact(): boolean {
    const kind = this.#kind;
    if (kind === 'fixed') return this.window.isExact;
    // Without a window, no rate follows from the amount left alone.
    return kind === undefined && this.last !== undefined && this.share.perMs !== undefined;
  }

  /** Whether reports show that the limit admits requests before it is full again. */
  get refillsGradually(): boolean {
    const kind = this.#kind;
    return kind === 'bucket' || kind === 'sliding';
  }

  /** Milliseconds until the reported amount covers a cost. @param total as for {@link rateAt} */
  wait(cost: number, total: number, now: number): number {
    const kind = this.#kind;
    if (kind === 'fixed' || this.isFullAgain) return this.window.wait(cost, total, now);
    const report = this.fresh(now);
    return kind === 'bucket' && report ? bucketWait(report, this, cost, total, now) : 0;
  }

  /**
   * How much may be sent at once; Infinity: reports set no bound.
   * @param cost the cost of a usual attempt
   * @param total as for {@link rateAt}
   */
  left(cost: number, total: number, now: number): number {
    const kind = this.#kind;
    if (kind === 'fixed') return this.window.left(cost, total, now);
    const report = this.fresh(now);
    if (report === undefined || kind === 'sliding') return Number.POSITIVE_INFINITY;
    if (kind === undefined) {
      const left = leftOf(report, 0, total, now);
      return left > LEAST_SPARE ? left : Number.POSITIVE_INFINITY;
    }
    // A rate that is in force bounds what is sent of a bucket.
    const isPaced = isSmall(report, this) || this.rateAt(total, now) !== undefined;
    return isPaced ? Number.POSITIVE_INFINITY : bucketLeft(report, this, total, now);
  }

  /**
   * The amount by which a pace may make up for time in which another limit held attempts back: a
   * part of what is left. @param total as for {@link rateAt}
   */
  unused(total: number, now: number): number {
    const report = this.fresh(now);
    if (report === undefined || this.#kind === 'fixed') return 0;
    const left = leftOf(report, this.refillPerMs, total, now);
    return Math.max(0, (left - spareOf(report, this)) * UNUSED_PART);
  }

  /**
   * The rate per ms; undefined if reports set no bound for now. @param total the amount sent and
   * not rejected
   */
  rateAt(total: number, now: number): number | undefined {
    const { last, window } = this;
    if (last === undefined) return undefined;
    if (this.isOnlyRejected) window.begin(total, now);
    if (this.#hasSaved(last, total, now)) return undefined;
    const kind = this.#kind;
    if (kind === 'fixed') return window.rateAt(total, now);
    const report = this.fresh(now);
    if (report === undefined) return undefined;
    const { share } = this;
    const { perMs, wholePerMs } = share;
    const isBucket = kind === 'bucket';
    if (perMs === undefined) return isBucket ? unmeasuredAt(report, this, total, now) : undefined;
    const left = this.#refilled(report, total, now);
    const spare = spareOf(report, this, perMs / Math.max(report.fullPerMs, wholePerMs));
    if (kind === undefined) {
      // Only the amount left is certain. When it is used up, a few attempts are sent to get new
      // reports.
      return leftOf(report, 0, total, now) > spare ? undefined : LEAST_FACTOR * wholePerMs;
    }
    if (left >= Math.max(PLENTY * this.highest, spare + 1)) {
      share.raise();
      return undefined;
    }
    if (isSmall(report, this)) return undefined;
    if (isBucket) return share.rateFor(left, spare, now, MOST_FACTOR);
    // The length of the window bounds the rate, within the rounding of resets.
    const mostPerMs = EXACT_PART * (report.lengthError * wholePerMs);
    return share.rateFor(left, spare, now, EXACT_PART, mostPerMs);
  }

  /** Counts from this amount left now, as if it were reported. */
  #countFrom(report: Report, remaining: number, total: number, now: number): void {
    this.last = { ...report, remaining, total, at: now };
  }

  /**
   * What is left, with what has come back since the report. A full bucket does not fill further, for
   * example during an outage.
   */
  #refilled(report: Report, total: number, now: number): number {
    const left = leftOf(report, this.refillPerMs, total, now);
    const { kind, highest } = this;
    if (kind !== 'bucket' || !(left > highest)) return left;
    this.#countFrom(report, highest, total, now);
    return highest;
  }

  /** Whether something is left that was saved, and may be sent at once. */
  #hasSaved(report: Report, total: number, now: number): boolean {
    // What is left of a bucket at the beginning was saved.
    const isStart = this.kind === 'bucket' && total < this.startUntil;
    if (isStart) this.share.raise();
    if (!isStart && total >= this.#atOnceUntil) return false;
    return savedOf(report, this, total, now) > spareOf(report, this);
  }
}
