import type { ReportedLimit } from '../../../model/feedback.ts';
import type { UnitCharge } from '../attempts/sent-attempt.ts';
import { DriftingRate, LEAST_BASE } from './drifting-rate.ts';
import { FillMeter } from './fill-meter.ts';
import { type Described, holdsLimit, type KnownLimit, type Report } from './report.ts';
import { ReportedWindow } from './reported-window.ts';
import { ResetTimes } from './reset-times.ts';
import { WindowClassifier, type WindowKind } from './window-classifier.ts';

/** How long a report is valid: a window of the limit, within these bounds. */
const FRESH_MS = 15_000;
const MOST_FRESH_MS = 60_000;
/** The assumed window of limits that report none: a minute, as for OpenAI and Azure. */
const USUAL_WINDOW_MS = 60_000;
/** In a window that is full again sooner, little is lost before answers report it. */
const LONG_MS = 10_000;

/**
 * What answers report of a limit: the last valid report, and what all of them together show of its
 * kind, its size, its refill and its end.
 */
export class LimitReports implements Described {
  /** The limit as one that is full again at one time, which it may be. */
  readonly window = new ReportedWindow();
  /** Our share of the limit, as a rate. */
  readonly share = new DriftingRate();
  readonly resets = new ResetTimes();
  readonly #classifier = new WindowClassifier();
  readonly #fill = new FillMeter();
  /** The last report that counts, however old. */
  last: Report | undefined = undefined;
  /**
   * Which answers report the limit; `unknown` until an accepted attempt is answered. Some clients
   * read the headers of errors only.
   */
  #reporting: 'unknown' | 'all' | 'rejections' = 'unknown';
  /** Whether a rejection has reported the limit, so that more was sent than it refills. */
  hasRejected = false;
  /** What was left at the first report lasts until this total amount is sent. */
  startUntil = Number.NEGATIVE_INFINITY;

  /**
   * Records what an answer reports.
   * @param attempt the attempt that was answered; its `total` excludes rejected ones
   * @param isAccepted whether its own cost is part of the usage
   * @param totalNow the amount sent and not rejected by now
   */
  record(
    limits: ReportedLimit,
    attempt: UnitCharge,
    isAccepted: boolean,
    totalNow: number,
    now: number,
  ): void {
    const { limit = 0, remaining } = limits;
    if (limit <= 0 || remaining === undefined) return;
    if (limits.isResetTime === true && limits.resetMs === undefined) {
      // The reported reset time has passed, so the duration of the refill is not known.
      if (isAccepted) this.missing(attempt.at);
      return;
    }
    if (isAccepted) {
      // Rejections of before it was full again do not show how it refills.
      if (this.isFullAgain) this.hasRejected = false;
      this.#reporting = 'all';
    } else {
      this.hasRejected = true;
      if (this.#reporting === 'rejections') return;
    }
    const { at, order, cost } = attempt;
    const seen = {
      ...this.resets.read(limits, at, now),
      limit,
      remaining,
      windowMs: limits.windowMs ?? USUAL_WINDOW_MS,
      at,
      order,
      total: attempt.total + (isAccepted ? cost : 0),
    };
    if (seen.tellsReset) {
      const isRejected = !isAccepted && remaining < cost;
      this.window.report({ ...seen, totalNow, isRejected }, now);
      this.#classifier.report({ ...seen, used: limit - remaining, isAccepted });
    }
    if (order < (this.last?.order ?? -1)) return;
    const wholePerMs = this.#wholePerMs(this.#keep(seen), limits.windowMs !== undefined);
    if (wholePerMs === undefined) return;
    // The least share at first would stay for long, if too little time has passed for one request.
    this.share.told(wholePerMs, Math.min(wholePerMs, this.#fill.mostPerMs ?? wholePerMs), now);
  }

  #keep(seen: Seen): Report {
    const { limit, remaining, at, order, total, fullMs } = seen;
    const last = this.last;
    if (last === undefined) this.startUntil = total + remaining;
    else if (limit !== last.limit) {
      this.#fill.scale(limit / last.limit);
      this.share.scale(limit / last.limit);
    }
    this.#fill.report({ at, order, left: remaining, total });
    const { highest } = this.#fill;
    // Every kind of limit is full again by the reported time. Some hold less than they report.
    const most = holdsLimit(limit, highest) ? limit - 1 : highest;
    const report = {
      ...seen,
      fullPerMs: seen.tellsReset ? (limit - remaining) / fullMs : 0,
      promisedPerMs: Math.max(0, most - remaining) / fullMs,
      lengthError: 1 + seen.roundedMs / this.lengthMs,
    };
    this.last = report;
    return report;
  }

  /** The rate of the whole limit by the last report; undefined: it does not follow from it. */
  #wholePerMs(report: Report, tellsWindow: boolean): number | undefined {
    const { limit, windowMs, tellsReset, promisedPerMs } = report;
    const usualPerMs = limit / windowMs;
    // Reset times are more reliable than reported windows.
    if (!tellsReset) return tellsWindow ? usualPerMs : undefined;
    if (this.kind !== 'bucket') return limit / this.lengthMs;
    const { perMs } = this.#fill;
    if (perMs === undefined) return undefined;
    return Math.max(perMs, promisedPerMs, LEAST_BASE * usualPerMs);
  }

  /**
   * An accepted attempt has reported nothing usable. If none ever did, rejections are ignored, too.
   * Else an old report is forgotten.
   * @param at when the attempt was sent
   */
  missing(at: number): void {
    if (this.#reporting === 'unknown') this.#reporting = 'rejections';
    const isOld = at - (this.last?.at ?? at) > FRESH_MS;
    if (this.#reporting === 'rejections' || isOld) this.last = undefined;
  }

  /** An attempt cost more than estimated. */
  corrected(order: number, more: number): void {
    const { last } = this;
    if (last !== undefined && order <= last.order) {
      last.total += more;
      this.window.corrected(order, more);
    }
    this.#fill.corrected(order, more);
  }

  /** What the reports have shown about the limit, for another learner. */
  get known(): KnownLimit {
    const { kind = null } = this.#classifier;
    const { highest, perMs = null } = this.#fill;
    const { perMs: sharePerMs = null } = this.share;
    return { kind, moves: this.window.moves, highest, perMs, sharePerMs };
  }

  /** Continues with what reports have shown to another learner by this time. */
  continue({ kind, moves, highest, perMs, sharePerMs }: KnownLimit, at: number): void {
    this.#classifier.continue(kind);
    this.window.moves = moves;
    this.#fill.continue(highest, perMs);
    this.share.continue(sharePerMs, at);
  }

  /** The last report while it is valid. */
  fresh(now: number): Report | undefined {
    const { last } = this;
    if (last === undefined) return undefined;
    const freshMs = Math.max(FRESH_MS, Math.min(MOST_FRESH_MS, last.windowMs));
    return now - last.at <= freshMs ? last : undefined;
  }

  get kind(): WindowKind | undefined {
    return this.#classifier.kind;
  }

  get lengthMs(): number {
    return this.#classifier.lengthMs;
  }

  get highest(): number {
    return this.#fill.highest;
  }

  get refillPerMs(): number {
    return this.share.wholePerMs;
  }

  /** Whether only rejections have reported the limit, and they named long resets. */
  get isOnlyRejected(): boolean {
    return this.#reporting === 'unknown' && this.resets.longestMs >= LONG_MS;
  }

  /**
   * The same, once it is full again, as after the end of a process that had used it up: a bucket and
   * a window hold no more than the limit.
   */
  get isFullAgain(): boolean {
    return this.isOnlyRejected && this.window.hasBegun;
  }
}

type Seen = Omit<Report, 'fullPerMs' | 'promisedPerMs' | 'lengthError'>;
