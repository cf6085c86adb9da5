import type { ReportedLimit } from '../../model/feedback.ts';
import { FillMeter } from './fill-meter.ts';
import { ReportedWindow } from './reported-window.ts';
import type { UnitCharge } from './sent-attempt.ts';
import { WindowClassifier } from './window-classifier.ts';

/** A report of an attempt that was sent longer ago says nothing of the present. */
const FRESH_MS = 15_000;
/**
 * Of the limit, what is to be left unused: for what others send, and for what is not known yet. A
 * bucket saves it; of a window it is lost.
 */
const SPARE_PART = 0.005;
const BUCKET_SPARE_PART = 0.01;
const LEAST_SPARE = 1;
/** How fast the rate follows what is left: from this part of it where nothing is left... */
const LEAST_FACTOR = 0.2;
/** ... to this where a bucket has saved much. */
const MOST_FACTOR = 1.5;
/** Of an excess, what the rate is raised by. */
const EXCESS_WEIGHT = 1 / 3;
/** By how much the base moves in a second, at most: so workers that share a limit find their parts. */
const DRIFT = 0.07;
const LEAST_BASE = 0.01;
/** Limits without a window are by the minute, as OpenAI's and Azure's are. */
const USUAL_WINDOW_MS = 60_000;
/** A bucket of which so much is left is no limit for now. */
const PLENTY = 0.5;
/** A rate that is known exactly is used but for this. */
export const EXACT_PART = 0.998;

/** Times of reset are in whole seconds where all of them were. */
const SECOND_MS = 1_000;
/** What they may be wrong by then, and else: what is sent takes a way. */
const ROUNDED_MS = 1_500;
const LEAST_ROUNDED_MS = 5;

/** The last report: what was left right after an attempt, and what had been sent by then. */
interface Report {
  readonly limit: number;
  readonly remaining: number;
  readonly windowMs: number;
  readonly at: number;
  readonly order: number;
  total: number;
  readonly tellsReset: boolean;
}

/**
 * The rate that a provider's own reports allow: as much as keeps a little of the limit unused. What
 * is left now is what was reported, less what was sent since, plus what has come back.
 */
export class ReportedRate {
  readonly #window = new ReportedWindow();
  readonly #classifier = new WindowClassifier();
  readonly #fill = new FillMeter();
  #report: Report | undefined = undefined;
  #roundedMs = ROUNDED_MS;
  /** What one window allows, by its length. */
  #ratePerMs = 0;
  /** Around which the rate moves; undefined: nothing is known. */
  #base: number | undefined = undefined;
  #driftedAt = 0;

  /**
   * @param attempt the one whose answer reports; `total` without what was rejected
   * @param isAccepted whether its own cost is in what is used
   * @param totalNow what has been sent and not rejected by now
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
    const windowMs = limits.windowMs ?? USUAL_WINDOW_MS;
    const { at, order, cost } = attempt;
    const total = attempt.total + (isAccepted ? cost : 0);
    const isLatest = order >= (this.#report?.order ?? -1);
    const tellsReset = resetMs !== undefined;
    if (tellsReset) {
      const isTime = limits.isResetTime === true;
      if (!isTime && resetMs % SECOND_MS !== 0) this.#roundedMs = LEAST_ROUNDED_MS;
      const roundedMs = isTime ? ROUNDED_MS : this.#roundedMs;
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
    this.#report = { limit, remaining, windowMs, at, order, total, tellsReset };
    const ratePerMs = this.#nominalPerMs(limits.windowMs, limit);
    if (ratePerMs === undefined) return;
    if (this.#base === undefined) this.#driftedAt = now;
    this.#ratePerMs = ratePerMs;
    this.#base = Math.min(this.#base ?? ratePerMs, ratePerMs * MOST_FACTOR);
  }

  /** An attempt has turned out to have cost more than was thought. */
  corrected(order: number, more: number): void {
    if (this.#report !== undefined && order <= this.#report.order) {
      this.#report.total += more;
      this.#window.corrected(more);
    }
    this.#fill.corrected(order, more);
  }

  /** The limit by its window, or by a minute where none is told; undefined: none was told lately. */
  toldPerMs(now: number): number | undefined {
    const report = this.#fresh(now);
    return report && report.limit / report.windowMs;
  }

  /** What a whole limit comes to, by the times that are told; undefined: none was told lately. */
  usualPerMs(now: number): number | undefined {
    if (this.#fresh(now) === undefined) return undefined;
    if (this.#hasEnd) return this.#window.usualPerMs;
    return this.#base === undefined ? undefined : this.#ratePerMs;
  }

  /** Whether what is left may be sent at once, and nothing after it until more is told. */
  get isExact(): boolean {
    return this.#hasEnd ? this.#window.isExact : this.#report?.tellsReset === false;
  }

  /** Milliseconds until what is told to be left covers a cost. @param total as of {@link rateAt} */
  wait(cost: number, total: number, now: number): number {
    return this.#hasEnd ? this.#window.wait(cost, total, now) : 0;
  }

  /** Per ms; undefined: they set no bound for now. @param total what was sent and not rejected */
  rateAt(total: number, now: number): number | undefined {
    if (this.#hasEnd) return this.#window.rateAt(total, now);
    const report = this.#fresh(now);
    if (report === undefined || this.#base === undefined) return undefined;
    const left = this.#leftOf(report, total, now);
    const isSaving = this.#classifier.kind === 'bucket';
    if (isSaving && left >= PLENTY * this.#fill.highest) {
      this.#base = Math.max(this.#base, this.#ratePerMs);
      return undefined;
    }
    const spare = Math.max(LEAST_SPARE, (isSaving ? BUCKET_SPARE_PART : SPARE_PART) * report.limit);
    if (!report.tellsReset) {
      // What is left is all that is sure; then some are sent to be told more.
      const isLeft = report.remaining - (total - report.total) > spare;
      return isLeft ? undefined : LEAST_FACTOR * this.#ratePerMs;
    }
    const excess = (left - spare) / spare;
    const base = this.#drift(this.#base, excess, now);
    const most = isSaving ? MOST_FACTOR * base : EXACT_PART * this.#ratePerMs;
    const factor = 1 + (excess > 0 ? excess * EXCESS_WEIGHT : excess);
    return Math.max(LEAST_FACTOR * base, Math.min(most, base * factor));
  }

  /** Whether it is whole again at one time, or may be: what is left may be sent at once in any case. */
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
    const drifted = Math.max(this.#ratePerMs * LEAST_BASE, Math.min(most, base * (1 + step)));
    this.#base = drifted;
    return drifted;
  }

  /** The limit itself is another one. */
  #changed(factor: number): void {
    this.#fill.scale(factor);
    this.#ratePerMs *= factor;
    if (this.#base !== undefined) this.#base *= factor;
  }

  #leftOf({ remaining, total: then, at }: Report, total: number, now: number): number {
    return remaining - (total - then) + this.#ratePerMs * (now - at);
  }

  #nominalPerMs(windowMs: number | undefined, limit: number): number | undefined {
    const usualPerMs = limit / (windowMs ?? USUAL_WINDOW_MS);
    // Times of reset tell more than a name does.
    if (this.#report?.tellsReset !== true) return windowMs === undefined ? undefined : usualPerMs;
    if (this.#classifier.kind !== 'bucket') return limit / this.#classifier.lengthMs;
    const { perMs } = this.#fill;
    return perMs === undefined ? undefined : Math.max(perMs, LEAST_BASE * usualPerMs);
  }

  #fresh(now: number): Report | undefined {
    const report = this.#report;
    return report !== undefined && now - report.at <= FRESH_MS ? report : undefined;
  }
}
