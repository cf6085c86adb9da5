import type { ReportedLimit } from '../../model/feedback.ts';
import { FillMeter } from './fill-meter.ts';
import type { UnitCharge } from './sent-attempt.ts';
import { ShownWindow } from './shown-window.ts';
import { type WindowKind, WindowWatch } from './window-kind.ts';

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
const LEAST_LEFT_MS = 100;
const MOST_OF_FIXED = 2;
const LEAST_OF_FIXED = 0.05;

/** The last report: what was left right after an attempt, and what had been sent by then. */
interface Report {
  readonly limit: number;
  readonly remaining: number;
  readonly windowMs: number;
  readonly at: number;
  readonly order: number;
  total: number;
  readonly resetAt: number | undefined;
}

/**
 * The rate that a provider's own reports allow: as much as keeps a little of the limit unused. What
 * is left now is what was reported, less what was sent since, plus what has come back.
 */
export class ReportedRate {
  readonly #window = new WindowWatch();
  readonly #shown = new ShownWindow();
  readonly #fill = new FillMeter();
  #report: Report | undefined = undefined;
  /** What one window allows, by its length. */
  #ratePerMs = 0;
  /** Around which the rate moves; undefined: nothing is known. */
  #base: number | undefined = undefined;
  #driftedAt = 0;

  /**
   * @param attempt the one whose answer reports; `total` without what was rejected
   * @param isAccepted whether its own cost is in what is used
   */
  reported(limits: ReportedLimit, attempt: UnitCharge, isAccepted: boolean, now: number): void {
    const { limit = 0, remaining, resetMs } = limits;
    if (limit <= 0 || remaining === undefined || attempt.order < (this.#report?.order ?? -1))
      return;
    const windowMs = limits.windowMs ?? USUAL_WINDOW_MS;
    const { at, order, cost } = attempt;
    const total = attempt.total + (isAccepted ? cost : 0);
    const before = this.#report?.limit ?? limit;
    if (limit !== before) this.#changed(limit / before);
    this.#fill.report({ at, order, left: remaining, total });
    const resetAt = resetMs === undefined ? undefined : at + resetMs;
    this.#report = { limit, remaining, windowMs, at, order, total, resetAt };
    if (resetMs !== undefined) {
      const seen = { limit, used: limit - remaining, resetMs, windowMs, at };
      this.#window.report(seen);
      this.#shown.report(seen);
    }
    const ratePerMs = this.#nominalPerMs(limits.windowMs, limit);
    if (ratePerMs === undefined) return;
    if (this.#base === undefined) this.#driftedAt = now;
    this.#ratePerMs = ratePerMs;
    this.#base = Math.min(this.#base ?? ratePerMs, ratePerMs * MOST_FACTOR);
  }

  /** An attempt has turned out to have cost more than was thought. */
  corrected(order: number, more: number): void {
    if (this.#report !== undefined && order <= this.#report.order) this.#report.total += more;
    this.#fill.corrected(order, more);
  }

  /** The limit by its window, or by a minute where none is told; undefined: none was told lately. */
  toldPerMs(now: number): number | undefined {
    const report = this.#fresh(now);
    return report && report.limit / report.windowMs;
  }

  /** Per ms; undefined: they set no bound for now. @param total what was sent and not rejected */
  rateAt(total: number, now: number): number | undefined {
    const report = this.#fresh(now);
    if (report === undefined || this.#base === undefined) return undefined;
    const kind = this.#kind;
    if (kind === 'fixed' && report.resetAt !== undefined) {
      if (now >= report.resetAt) return EXACT_PART * this.#ratePerMs;
      return this.#evenly(report, report.resetAt - now, total);
    }
    const left = this.#leftOf(report, total, now);
    const isSaving = kind === 'bucket';
    if (isSaving && left >= PLENTY * this.#fill.highest) {
      this.#base = Math.max(this.#base, this.#ratePerMs);
      return undefined;
    }
    const spare = Math.max(LEAST_SPARE, (isSaving ? BUCKET_SPARE_PART : SPARE_PART) * report.limit);
    const excess = (left - spare) / spare;
    const base = this.#drift(this.#base, excess, now);
    const most = isSaving ? MOST_FACTOR * base : EXACT_PART * this.#ratePerMs;
    const factor = 1 + (excess > 0 ? excess * EXCESS_WEIGHT : excess);
    return Math.max(LEAST_FACTOR * base, Math.min(most, base * factor));
  }

  get #kind(): WindowKind | undefined {
    return this.#shown.kind ?? this.#window.kind;
  }

  /** What is left of a fixed window, over what is left of its time. */
  #evenly(report: Report, leftMs: number, total: number): number {
    const left = report.remaining - (total - report.total);
    const ratePerMs = left / Math.max(leftMs, LEAST_LEFT_MS);
    const usual = this.#ratePerMs;
    return Math.max(usual * LEAST_OF_FIXED, Math.min(usual * MOST_OF_FIXED, ratePerMs));
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
    const kind = this.#kind;
    if (this.#shown.kind !== undefined && kind !== 'bucket') return limit / this.#shown.lengthMs;
    if (kind === 'sliding') return limit / this.#window.slideMs;
    const usual = limit / (windowMs ?? USUAL_WINDOW_MS);
    const { perMs } = this.#fill;
    if (kind === 'fixed') return usual;
    if (kind === 'bucket')
      return perMs === undefined ? undefined : Math.max(perMs, LEAST_BASE * usual);
    // Times of reset tell more than a name does: they will show what kind it is.
    const isShowing = this.#report?.resetAt !== undefined;
    return windowMs === undefined || isShowing ? undefined : limit / windowMs;
  }

  #fresh(now: number): Report | undefined {
    const report = this.#report;
    return report !== undefined && now - report.at <= FRESH_MS ? report : undefined;
  }
}
