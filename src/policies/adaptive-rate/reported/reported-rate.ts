import type { ReportedLimit } from '../../../model/feedback.ts';
import type { UnitCharge } from '../attempts/sent-attempt.ts';
import { DriftingRate, LEAST_BASE, MOST_FACTOR } from './drifting-rate.ts';
import { FillMeter } from './fill-meter.ts';
import {
  type Described,
  isSmall,
  type KnownLimit,
  LEAST_SPARE,
  leftOf,
  type Report,
  savedOf,
  spareOf,
} from './report.ts';
import { ReportedWindow } from './reported-window.ts';
import { WindowClassifier } from './window-classifier.ts';

/** How long a report is valid: a window of the limit, within these bounds. */
const FRESH_MS = 15_000;
const MOST_FRESH_MS = 60_000;
/** The lowest rate, as a share of the base, when nothing is left. */
const LEAST_FACTOR = 0.2;
/**
 * An excess is measured in amounts of the spare, and at least in this one: so a single request
 * changes the rate little.
 */
const LEAST_SCALE = 3;
/** The share of an excess that raises the rate. */
const EXCESS_WEIGHT = 1 / 3;
/** A limit really holds the reported amount if this share of it was left at some time. */
const HOLDS_PART = 0.5;
/** A bucket that holds less is empty before its rate matters. */
const LEAST_HELD = 20;
/** In a window that is full again sooner, little is lost before answers report it. */
const LONG_MS = 10_000;
/** The assumed window of limits that report none: a minute, as for OpenAI and Azure. */
const USUAL_WINDOW_MS = 60_000;
/** A limit with this share left does not limit for now, whatever its kind. */
const PLENTY = 0.5;
/** Timers are not shorter. */
const LEAST_WAIT_MS = 1;
/** The share of what is left that makes up for unused time. */
const UNUSED_PART = 0.5;
/** The share that is used of a rate that is known exactly. */
export const EXACT_PART = 0.998;

/** The rounding of resets, if all of them were whole seconds. */
const SECOND_MS = 1_000;
/** The error of resets in that case, and otherwise: the delay of the network. */
const ROUNDED_MS = 1_500;
const LEAST_ROUNDED_MS = 5;
/**
 * Two answers may name one end so far apart if it is a time: its seconds are rounded, and those of
 * the answer's date, too.
 */
const TIMES_APART_MS = 2_000;

/**
 * The rate that a provider's reports allow, so that a little of the limit stays unused. The amount
 * left now is the reported one, minus the amount sent since, plus the refill.
 */
export class ReportedRate {
  readonly #window = new ReportedWindow();
  readonly #classifier = new WindowClassifier();
  readonly #fill = new FillMeter();
  #report: Report | undefined = undefined;
  /**
   * Whether answers to accepted attempts report it, too; undefined before the first one. Some
   * clients read the headers of errors only.
   */
  #doAnswersTell: boolean | undefined = undefined;
  #roundedMs = ROUNDED_MS;
  /** The longest reported reset. */
  #longestMs = 0;
  readonly #share = new DriftingRate();
  /** The refill rate that the last report promises, per ms. */
  #promisedPerMs = 0;
  /** The factor by which the rate may be higher, because the reported time is rounded. */
  #uncertainty = 1;
  /** Until this total amount was sent, saved capacity is sent at once; the second: of a bucket. */
  #atOnceUntil = Number.NEGATIVE_INFINITY;
  #bucketUntil = Number.NEGATIVE_INFINITY;
  #hasRejected = false;

  /**
   * @param attempt the attempt whose answer reports; its `total` excludes rejected ones
   * @param isAccepted whether its own cost is part of the usage
   * @param totalNow the amount sent and not rejected by now
   */
  reported(
    limits: ReportedLimit,
    attempt: UnitCharge,
    isAccepted: boolean,
    totalNow: number,
    now: number,
  ): void {
    const { limit = 0, remaining, resetMs } = limits;
    if (limit <= 0 || remaining === undefined) return;
    const isTime = limits.isResetTime === true;
    // The reported reset time has passed, so the duration of the refill is not known.
    if (isTime && resetMs === undefined) {
      if (isAccepted) this.missing(attempt.at);
      return;
    }
    if (!isAccepted) this.#hasRejected = true;
    else if (this.#doAnswersTell !== true) {
      // Rejections of before it was full again do not show how it refills.
      if (this.#isFullAgain) this.#hasRejected = false;
      this.#doAnswersTell = true;
    }
    if (this.#doAnswersTell === false) return;
    const windowMs = limits.windowMs ?? USUAL_WINDOW_MS;
    const { at, order, cost } = attempt;
    const total = attempt.total + (isAccepted ? cost : 0);
    const isLatest = order >= (this.#report?.order ?? -1);
    if (resetMs !== undefined && !isTime && resetMs % SECOND_MS !== 0) {
      this.#roundedMs = LEAST_ROUNDED_MS;
    }
    const roundedMs = isTime ? ROUNDED_MS : this.#roundedMs;
    this.#longestMs = Math.max(this.#longestMs, resetMs ?? 0);
    // Resets within their rounding show nothing, as whole seconds of a window of a second.
    const isVague = limits.windowMs === undefined && this.#longestMs <= roundedMs;
    const tellsReset = resetMs !== undefined && !isVague;
    const wholeAt = (isTime ? now : at) + (resetMs ?? Number.NaN);
    if (tellsReset) {
      const latestEnd = now + resetMs;
      const earliestEnd = isTime ? latestEnd : at + resetMs;
      const isRejected = !isAccepted && remaining < cost;
      const ends = { earliestEnd, latestEnd, resetMs: earliestEnd - at, roundedMs };
      const seen = { limit, remaining, at, order, total, totalNow, isRejected, windowMs, ...ends };
      this.#window.report({ ...seen, roundedMs: isTime ? TIMES_APART_MS : roundedMs }, now);
      this.#classifier.report({ ...seen, used: limit - remaining, isAccepted });
    }
    if (!isLatest) return;
    // What is left of a bucket at the beginning was saved.
    if (this.#report === undefined) this.#bucketUntil = total + remaining;
    const before = this.#report?.limit ?? limit;
    if (limit !== before) {
      this.#fill.scale(limit / before);
      this.#share.scale(limit / before);
    }
    this.#fill.report({ at, order, left: remaining, total });
    const fullPerMs = tellsReset ? (limit - remaining) / (resetMs + roundedMs) : 0;
    this.#report = { limit, remaining, windowMs, at, order, total, tellsReset, wholeAt, fullPerMs };
    if (tellsReset) {
      // Every kind of limit is full again by the reported time. Some hold less than they report.
      const { highest } = this.#fill;
      const most = highest >= HOLDS_PART * limit ? limit - 1 : highest;
      this.#promisedPerMs = Math.max(0, most - remaining) / (resetMs + roundedMs);
      this.#uncertainty = 1 + roundedMs / this.#classifier.lengthMs;
    }
    const ratePerMs = this.#nominalPerMs(limits.windowMs, limit);
    if (ratePerMs === undefined) return;
    // The least share at first would stay for long, if too little time has passed for one request.
    this.#share.told(ratePerMs, Math.min(ratePerMs, this.#fill.mostPerMs ?? ratePerMs), now);
  }

  /** What the reports have shown about the limit, for another learner. */
  get known(): KnownLimit {
    const { kind = null } = this.#classifier;
    const { highest, perMs = null } = this.#fill;
    return { kind, highest, perMs };
  }

  /** Continues with what reports have shown to another learner. */
  continue({ kind, highest, perMs }: KnownLimit): void {
    this.#classifier.continue(kind);
    this.#fill.continue(highest, perMs);
  }

  /**
   * An accepted attempt has reported nothing usable. If none ever did, rejections are ignored, too:
   * alone they show only that nothing is left. Else an old report is forgotten.
   * @param at when the attempt was sent
   */
  missing(at: number): void {
    this.#doAnswersTell ??= false;
    const isOld = this.#report !== undefined && at - this.#report.at > FRESH_MS;
    if (!this.#doAnswersTell || isOld) this.#report = undefined;
  }

  /**
   * There was no demand until now: the amount left was saved.
   * @param total as for {@link rateAt}
   */
  resumed(total: number, now: number): void {
    this.#window.resumed(total, now);
    const report = this.#report;
    if (report === undefined) return;
    this.#atOnceUntil = total + report.limit;
    if (this.#classifier.kind !== 'bucket') return;
    this.#countFrom(report, savedOf(report, this.#described, total, now), total, now);
  }

  /** Counts from this amount left now, as if it were reported. */
  #countFrom(report: Report, remaining: number, total: number, now: number): void {
    this.#report = { ...report, remaining, total, at: now };
  }

  /** An attempt cost more than estimated. */
  corrected(order: number, more: number): void {
    if (this.#report !== undefined && order <= this.#report.order) {
      this.#report.total += more;
      this.#window.corrected(order, more);
    }
    this.#fill.corrected(order, more);
  }

  /** The whole limit; 0 if none was reported lately. */
  limit(now: number): number {
    return this.#fresh(now)?.limit ?? 0;
  }

  /**
   * The limit divided by its window, or by a minute if none is reported; undefined if none was
   * reported lately.
   */
  toldPerMs(now: number): number | undefined {
    const report = this.#fresh(now);
    return report && report.limit / report.windowMs;
  }

  /** The rate of the whole limit, by the reported times; undefined if none was reported lately. */
  usualPerMs(now: number): number | undefined {
    if (this.#fresh(now) === undefined) return undefined;
    if (this.#hasEnd) return this.#window.usualPerMs;
    return this.#share.perMs === undefined ? undefined : this.#share.wholePerMs;
  }

  /**
   * The rate of the whole limit, including the use by other processes; 0 if none was reported
   * lately, or if each request uses the limit up.
   */
  wholePerMs(now: number): number {
    const report = this.#fresh(now);
    const described = this.#described;
    if (report === undefined) return 0;
    const { kind, highest } = described;
    // Nothing is ever left of a limit on the distance between requests, whatever others use.
    if (highest < 1 && (isSmall(report, described) || this.#holdsOne(report))) return 0;
    if (kind !== 'bucket') return this.usualPerMs(now) ?? 0;
    // The measured refill of a bucket excludes what others use. A bucket that holds less than its
    // limit is full sooner than after its window.
    const { limit, windowMs, fullPerMs } = report;
    return highest >= HOLDS_PART * limit ? fullPerMs : Math.min(fullPerMs, limit / windowMs);
  }

  /** Whether a bucket is full again so soon that it holds a single request. */
  #holdsOne({ limit, windowMs, at, wholeAt }: Report): boolean {
    return (wholeAt - at - this.#roundedMs) * (limit / windowMs) < 2;
  }

  /** Whether the amount left may be sent at once, and then nothing until the next report. */
  get isExact(): boolean {
    if (this.#hasEnd) return this.#window.isExact;
    // Without a reset or a window, no rate follows from the amount left.
    return this.#report?.tellsReset === false && this.#share.perMs !== undefined;
  }

  /** Whether reports show that the limit admits requests before it is full again. */
  get refillsGradually(): boolean {
    return this.#report?.tellsReset === true && !this.#hasEnd;
  }

  /** Milliseconds until the reported amount covers a cost. @param total as for {@link rateAt} */
  wait(cost: number, total: number, now: number): number {
    if (this.#hasEnd || this.#isFullAgain) return this.#window.wait(cost, total, now);
    return this.#uncoveredMs(cost, total, now);
  }

  /** Milliseconds until a bucket has refilled to a cost that exceeds the amount left unused. */
  #uncoveredMs(cost: number, total: number, now: number): number {
    const report = this.#fresh(now);
    const described = this.#described;
    const { kind, highest, perMs } = described;
    if (report?.tellsReset !== true || kind !== 'bucket' || !(perMs > 0)) return 0;
    if (cost <= spareOf(report, described)) return 0;
    const missing = Math.min(cost, highest) - leftOf(report, perMs, total, now);
    return missing > 0 ? Math.max(LEAST_WAIT_MS, missing / perMs) : 0;
  }

  /**
   * How much may be sent at once; Infinity: reports set no bound.
   * @param cost the cost of a usual attempt
   * @param total as for {@link rateAt}
   */
  left(cost: number, total: number, now: number): number {
    if (this.#hasEnd) return this.#window.left(cost, total, now);
    const report = this.#fresh(now);
    if (report === undefined) return Number.POSITIVE_INFINITY;
    if (report.tellsReset) return this.#leftUnpaced(report, total, now);
    const left = report.remaining - (total - report.total);
    // Without a reset time, only the amount left at the last report is known.
    return left > LEAST_SPARE ? left : Number.POSITIVE_INFINITY;
  }

  /** What is left of a bucket while no rate holds its requests back; else Infinity. */
  #leftUnpaced(report: Report, total: number, now: number): number {
    const described = this.#described;
    const isPaced = described.kind !== 'bucket' || isSmall(report, described);
    if (isPaced || this.rateAt(total, now) !== undefined) return Number.POSITIVE_INFINITY;
    return Math.max(1, leftOf(report, Math.max(described.perMs, this.#promisedPerMs), total, now));
  }

  /**
   * The amount by which a pace may make up for time in which another limit held attempts back: a
   * part of what is left. @param total as for {@link rateAt}
   */
  unused(total: number, now: number): number {
    const report = this.#fresh(now);
    if (report === undefined || this.#hasEnd) return 0;
    const described = this.#described;
    const left = leftOf(report, described.perMs, total, now);
    return Math.max(0, (left - spareOf(report, described)) * UNUSED_PART);
  }

  /**
   * The rate per ms; undefined if reports set no bound for now. @param total the amount sent and
   * not rejected
   */
  rateAt(total: number, now: number): number | undefined {
    const last = this.#report;
    if (last === undefined) return undefined;
    if (this.#isOnlyRejected) this.#window.begin(total, now);
    const described = this.#described;
    const { kind, highest } = described;
    const isStart = kind === 'bucket' && total < this.#bucketUntil;
    if (isStart) this.#share.raise();
    if (isStart || total < this.#atOnceUntil) {
      const saved = savedOf(last, described, total, now);
      if (saved > spareOf(last, described)) return undefined;
    }
    if (this.#hasEnd) return this.#window.rateAt(total, now);
    const report = this.#fresh(now);
    const { perMs, wholePerMs } = this.#share;
    if (report === undefined) return undefined;
    if (perMs === undefined) return this.#unmeasuredAt(report, described, total, now);
    let left = leftOf(report, wholePerMs, total, now);
    if (kind === 'bucket' && left > highest) {
      // A full bucket does not fill further, for example during an outage.
      left = highest;
      this.#countFrom(report, left, total, now);
    }
    const spare = spareOf(report, described, perMs / Math.max(report.fullPerMs, wholePerMs));
    if (report.tellsReset && left >= Math.max(PLENTY * highest, spare + 1)) {
      this.#share.raise();
      return undefined;
    }
    if (!report.tellsReset) {
      // Only the amount left is certain. When it is used up, a few attempts are sent to get new
      // reports.
      const isLeft = report.remaining - (total - report.total) > spare;
      return isLeft ? undefined : LEAST_FACTOR * wholePerMs;
    }
    if (isSmall(report, described)) return undefined;
    const excess = (left - spare) / Math.max(spare, LEAST_SCALE);
    const base = this.#share.drift(perMs, excess, now);
    const most =
      kind === 'bucket'
        ? MOST_FACTOR * base
        : EXACT_PART * Math.min(base, this.#uncertainty * wholePerMs);
    const factor = 1 + (excess > 0 ? excess * EXCESS_WEIGHT : excess);
    return Math.max(LEAST_FACTOR * base, Math.min(most, base * factor));
  }

  /**
   * The rate of a bucket that is nearly empty before its refill is measured, by its documented window:
   * until a rejection comes, that bounds how much is sent in vain.
   */
  #unmeasuredAt(report: Report, described: Described, total: number, now: number) {
    const { kind, highest } = described;
    const isBound = kind === 'bucket' && report.tellsReset && highest >= LEAST_HELD;
    if (!isBound || this.#hasRejected) return undefined;
    const perMs = Math.max(this.#promisedPerMs, report.limit / report.windowMs);
    return leftOf(report, perMs, total, now) > spareOf(report, described) ? undefined : perMs;
  }

  /**
   * Whether the limit is, or may be, full again at one time: the amount left may be sent at once in
   * any case.
   */
  get #hasEnd(): boolean {
    if (this.#report?.tellsReset !== true) return false;
    const { kind } = this.#classifier;
    return kind === 'fixed' || (kind === undefined && !this.#window.isMoving);
  }

  /** Whether only rejections have reported the limit, and they named long resets. */
  get #isOnlyRejected(): boolean {
    return this.#doAnswersTell === undefined && this.#longestMs >= LONG_MS;
  }

  /**
   * The same, once it is full again, as after the end of a process that had used it up: a bucket and
   * a window hold no more than the limit.
   */
  get #isFullAgain(): boolean {
    return this.#isOnlyRejected && this.#window.hasBegun;
  }

  get #described(): Described {
    const { kind, lengthMs } = this.#classifier;
    return { kind, lengthMs, highest: this.#fill.highest, perMs: this.#share.wholePerMs };
  }

  #nominalPerMs(windowMs: number | undefined, limit: number): number | undefined {
    const usualPerMs = limit / (windowMs ?? USUAL_WINDOW_MS);
    // Reset times are more reliable than reported windows.
    if (this.#report?.tellsReset !== true) return windowMs === undefined ? undefined : usualPerMs;
    if (this.#classifier.kind !== 'bucket') return limit / this.#classifier.lengthMs;
    const { perMs } = this.#fill;
    if (perMs === undefined) return undefined;
    return Math.max(perMs, this.#promisedPerMs, LEAST_BASE * usualPerMs);
  }

  #fresh(now: number): Report | undefined {
    const report = this.#report;
    if (report === undefined) return undefined;
    const freshMs = Math.max(FRESH_MS, Math.min(MOST_FRESH_MS, report.windowMs));
    return now - report.at <= freshMs ? report : undefined;
  }
}
