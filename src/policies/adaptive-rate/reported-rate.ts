import type { ReportedLimit } from '../../model/feedback.ts';
import { FillMeter } from './fill-meter.ts';
import { ReportedWindow } from './reported-window.ts';
import type { UnitCharge } from './sent-attempt.ts';
import { WindowClassifier } from './window-classifier.ts';

/** The age at which a report is out of date. */
const FRESH_MS = 15_000;
/**
 * The share of the limit that is left unused, for other clients and for unknown usage. A bucket
 * saves it; in a window it is lost.
 */
const SPARE_PART = 0.005;
const BUCKET_SPARE_PART = 0.01;
const LEAST_SPARE = 1;
/** What is left of a smaller limit is told too coarsely: mostly it is nothing. */
const FEW = 4;
/** The rate follows the amount left: from this share of the base where nothing is left... */
const LEAST_FACTOR = 0.2;
/** ... to this multiple where a bucket has saved much. */
const MOST_FACTOR = 1.5;
/** The share of an excess that raises the rate. */
const EXCESS_WEIGHT = 1 / 3;
/**
 * The greatest change of the base per second, so that workers that share a limit find their shares.
 */
const DRIFT = 0.07;
const LEAST_BASE = 0.01;
/**
 * ... of which, upwards, so much is of the whole limit and not of one's own rate: what is added alike
 * and taken in proportion makes shares alike.
 */
const ADDED = 0.2;
/** A limit of which so much was left at a time holds what it tells. */
const HOLDS_PART = 0.5;
/** The assumed window of limits that report none: a minute, as for OpenAI and Azure. */
const USUAL_WINDOW_MS = 60_000;
/** A limit with this share left does not limit for now, whatever its kind. */
const PLENTY = 0.5;
/** The unused share of a rate that is known exactly. */
export const EXACT_PART = 0.998;

/** The rounding of resets, if all of them were whole seconds. */
const SECOND_MS = 1_000;
/** The error of resets in that case, and otherwise: the delay of the network. */
const ROUNDED_MS = 1_500;
const LEAST_ROUNDED_MS = 5;

/** The last report: the amount left right after an attempt, and the amount sent by then. */
interface Report {
  readonly limit: number;
  readonly remaining: number;
  readonly windowMs: number;
  readonly at: number;
  readonly order: number;
  total: number;
  readonly tellsReset: boolean;
  /** When what was used then has come back, but for a counter that slides; NaN: that was not told. */
  readonly wholeAt: number;
  /** The rate at which a bucket fills if it is full again when that was told; 0: it was not. */
  readonly fullPerMs: number;
}

/**
 * The rate that a provider's reports allow, so that a little of the limit stays unused. The amount
 * left now is the reported one, minus the amount sent since, plus the refill.
 */
export class ReportedRate {
  readonly #window = new ReportedWindow();
  readonly #classifier = new WindowClassifier();
  readonly #fill = new FillMeter();
  #report: Report | undefined = undefined;
  #roundedMs = ROUNDED_MS;
  /** The amount per window, by the length of the window. */
  #ratePerMs = 0;
  /** The base of the rate; undefined if nothing is known. */
  #base: number | undefined = undefined;
  #driftedAt = 0;
  /** The rate at which the last report promises that what is used comes back. */
  #promisedPerMs = 0;
  /** By how much a rate may be greater, since the time that was told is rounded. */
  #uncertainty = 1;
  /** Up to this amount, what is saved is sent at once. */
  #atOnceUntil = Number.NEGATIVE_INFINITY;

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
    // Its reset has passed: what was used then has come back, in a time that is not known.
    if (isTime && resetMs === undefined) return;
    const windowMs = limits.windowMs ?? USUAL_WINDOW_MS;
    const { at, order, cost } = attempt;
    const total = attempt.total + (isAccepted ? cost : 0);
    const isLatest = order >= (this.#report?.order ?? -1);
    const tellsReset = resetMs !== undefined;
    if (tellsReset && !isTime && resetMs % SECOND_MS !== 0) this.#roundedMs = LEAST_ROUNDED_MS;
    const roundedMs = isTime ? ROUNDED_MS : this.#roundedMs;
    const wholeAt = (isTime ? now : at) + (resetMs ?? Number.NaN);
    if (tellsReset) {
      const latestEnd = now + resetMs;
      const earliestEnd = isTime ? latestEnd : at + resetMs;
      const isRejected = !isAccepted && remaining < cost;
      const ends = { earliestEnd, latestEnd, resetMs: earliestEnd - at, roundedMs };
      const seen = { limit, remaining, at, order, total, totalNow, isRejected, windowMs, ...ends };
      this.#window.report(seen, now);
      if (isLatest) this.#classifier.report({ ...seen, used: limit - remaining });
    }
    if (!isLatest) return;
    const before = this.#report?.limit ?? limit;
    if (limit !== before) this.#changed(limit / before);
    this.#fill.report({ at, order, left: remaining, total });
    const fullPerMs = tellsReset ? (limit - remaining) / (resetMs + roundedMs) : 0;
    this.#report = { limit, remaining, windowMs, at, order, total, tellsReset, wholeAt, fullPerMs };
    if (tellsReset) {
      // What is used now is full again by then, whatever kind of limit it is. Some hold less than
      // they tell.
      const { highest } = this.#fill;
      const most = highest >= HOLDS_PART * limit ? limit - 1 : highest;
      this.#promisedPerMs = Math.max(0, most - remaining) / (resetMs + roundedMs);
      this.#uncertainty = 1 + roundedMs / this.#classifier.lengthMs;
    }
    const ratePerMs = this.#nominalPerMs(limits.windowMs, limit);
    if (ratePerMs === undefined) return;
    if (this.#base === undefined) this.#driftedAt = now;
    this.#ratePerMs = ratePerMs;
    this.#base = Math.min(this.#base ?? this.#fill.perMs ?? ratePerMs, ratePerMs * MOST_FACTOR);
  }

  /**
   * There was nothing to send until now: what is left was saved.
   * @param total as for {@link rateAt}
   */
  resumed(total: number, now: number): void {
    this.#window.resumed(total, now);
    const report = this.#report;
    if (report === undefined) return;
    this.#atOnceUntil = total + report.limit;
    if (this.#classifier.kind !== 'bucket') return;
    this.#report = { ...report, remaining: this.#savedOf(report, total, now), total, at: now };
  }

  /** An attempt cost more than estimated. */
  corrected(order: number, more: number): void {
    if (this.#report !== undefined && order <= this.#report.order) {
      this.#report.total += more;
      this.#window.corrected(more);
    }
    this.#fill.corrected(order, more);
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
    return this.#base === undefined ? undefined : this.#ratePerMs;
  }

  /**
   * The rate of the whole limit, the part of other processes included; undefined if none was reported
   * lately.
   */
  wholePerMs(now: number): number | undefined {
    const report = this.#fresh(now);
    // How fast a bucket fills for us excludes what others use.
    if (report !== undefined && this.#classifier.kind === 'bucket') return report.fullPerMs;
    return this.usualPerMs(now);
  }

  /** Whether the amount left may be sent at once, and then nothing until the next report. */
  get isExact(): boolean {
    return this.#hasEnd ? this.#window.isExact : this.#report?.tellsReset === false;
  }

  /** Milliseconds until the reported amount covers a cost. @param total as for {@link rateAt} */
  wait(cost: number, total: number, now: number): number {
    return this.#hasEnd ? this.#window.wait(cost, total, now) : 0;
  }

  /** How much may be sent at once; Infinity: reports set no bound. @param total as for {@link rateAt} */
  left(total: number, now: number): number {
    if (this.#hasEnd) return this.#window.left(total, now);
    const report = this.#fresh(now);
    if (report === undefined || report.tellsReset) return Number.POSITIVE_INFINITY;
    const left = report.remaining - (total - report.total);
    // Without a rate by time, what is left at the last report is all that is known.
    return left > LEAST_SPARE ? left : Number.POSITIVE_INFINITY;
  }

  /**
   * The rate per ms; undefined if reports set no bound for now. @param total the amount sent and
   * not rejected
   */
  rateAt(total: number, now: number): number | undefined {
    const last = this.#report;
    if (last !== undefined && total < this.#atOnceUntil) {
      if (this.#savedOf(last, total, now) > this.#spareOf(last)) return undefined;
    }
    if (this.#hasEnd) return this.#window.rateAt(total, now);
    const report = this.#fresh(now);
    if (report === undefined || this.#base === undefined || report.limit < FEW) return undefined;
    const left = this.#leftOf(report, total, now);
    const isSaving = this.#classifier.kind === 'bucket';
    if (report.tellsReset && left >= PLENTY * this.#fill.highest) {
      this.#base = Math.max(this.#base, this.#ratePerMs);
      return undefined;
    }
    const spare = this.#spareOf(report);
    if (!report.tellsReset) {
      // Only the amount left is certain; after it a few are sent to get new reports.
      const isLeft = report.remaining - (total - report.total) > spare;
      return isLeft ? undefined : LEAST_FACTOR * this.#ratePerMs;
    }
    const excess = (left - spare) / spare;
    const base = this.#drift(this.#base, excess, now);
    const most = isSaving
      ? MOST_FACTOR * base
      : EXACT_PART * Math.min(base, this.#uncertainty * this.#ratePerMs);
    const factor = 1 + (excess > 0 ? excess * EXCESS_WEIGHT : excess);
    return Math.max(LEAST_FACTOR * base, Math.min(most, base * factor));
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

  #drift(base: number, excess: number, now: number): number {
    const driftedMs = Math.min(1_000, now - this.#driftedAt);
    this.#driftedAt = now;
    const step = DRIFT * Math.max(-1, Math.min(1, excess)) * (driftedMs / 1_000);
    const most = this.#ratePerMs * MOST_FACTOR;
    const added = step > 0 ? ADDED * step * this.#ratePerMs : 0;
    const drifted = Math.max(
      this.#ratePerMs * LEAST_BASE,
      Math.min(most, base * (1 + step) + added),
    );
    this.#base = drifted;
    return drifted;
  }

  /** The limit itself has changed. */
  #changed(factor: number): void {
    this.#fill.scale(factor);
    this.#ratePerMs *= factor;
    if (this.#base !== undefined) this.#base *= factor;
  }

  /** What is left at least after a time in which little was sent, of whatever kind the limit is. */
  #savedOf(report: Report, total: number, now: number): number {
    const { limit, remaining, wholeAt } = report;
    const { kind, lengthMs } = this.#classifier;
    const most = this.#mostOf(limit);
    if (kind === 'bucket') return Math.min(most, this.#leftOf(report, total, now));
    // A counter that slides still counts a part of the last window after its end.
    const whole = Math.min(1, Math.max(0, now - wholeAt) / lengthMs);
    return Math.min(most, remaining + whole * (limit - remaining)) - (total - report.total);
  }

  /** Some hold less than they tell. */
  #mostOf(limit: number): number {
    const { highest } = this.#fill;
    return highest >= HOLDS_PART * limit ? limit : highest;
  }

  #spareOf({ limit }: Report): number {
    const isSaving = this.#classifier.kind === 'bucket';
    return Math.max(LEAST_SPARE, (isSaving ? BUCKET_SPARE_PART : SPARE_PART) * limit);
  }

  #leftOf({ remaining, total: then, at }: Report, total: number, now: number): number {
    return remaining - (total - then) + this.#ratePerMs * (now - at);
  }

  #nominalPerMs(windowMs: number | undefined, limit: number): number | undefined {
    const usualPerMs = limit / (windowMs ?? USUAL_WINDOW_MS);
    // Resets are more reliable than names.
    if (this.#report?.tellsReset !== true) return windowMs === undefined ? undefined : usualPerMs;
    if (this.#classifier.kind !== 'bucket') return limit / this.#classifier.lengthMs;
    const { perMs } = this.#fill;
    if (perMs === undefined) return undefined;
    return Math.max(perMs, this.#promisedPerMs, LEAST_BASE * usualPerMs);
  }

  #fresh(now: number): Report | undefined {
    const report = this.#report;
    return report !== undefined && now - report.at <= FRESH_MS ? report : undefined;
  }
}
