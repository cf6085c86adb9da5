import { WindowSharing } from './window-sharing.ts';

/** The report of a limit that is full again at one time. */
export interface WindowReport {
  readonly limit: number;
  readonly remaining: number;
  /** The time from the provider's check of the limit until it is full again. */
  readonly resetMs: number;
  /** When the attempt was sent. */
  readonly at: number;
  /** The bounds of the end, without rounding. */
  readonly earliestEnd: number;
  readonly latestEnd: number;
  /** The greatest distance between two reports of one end. */
  readonly apartMs: number;
  readonly order: number;
  /**
   * The amount sent and not rejected before the attempt, with the attempt itself if it was
   * accepted.
   */
  readonly total: number;
  /** The amount sent and not rejected when the answer came. */
  readonly totalNow: number;
  /** Whether it was rejected because too little was left. */
  readonly isRejected: boolean;
}

/** Ends this close count as one, within the error of clocks. */
const SAME_END_MS = 10;
/** Added to the wait for an end, because the network delay varies. */
const GUARD_MS = 100;
/** The upper bound of that addition, as a share of the window. */
const GUARD_PART = 0.02;
/**
 * The same two bounds before an end has been confirmed. Then one attempt tests it, for at most this
 * time, and for this share of a window: its answer may take longer than the window.
 */
const TEST_MS = 1_000;
const TEST_PART = 0.05;
const MOST_TESTED_PART = 0.5;
/** A window has just begun if more than this share of its length is left. */
const JUST_BEGUN_PART = 0.5;
/** A limit whose end moves this often before it is reached has no fixed end. */
const MOVES = 2;
/** How long reports are valid after the last one, or two windows. */
const FRESH_MS = 15_000;
/**
 * The confidence in ends. A window without a rejection adds one. A window with a rejection takes
 * several, or one while the end is not tested yet.
 */
const MOST_CONFIDENCE = 4;
const TESTED = 2;
const LEAST_CONFIDENCE = -8;
const LOST_CONFIDENCE = 3;
/** The amount left is spread over the time left, within these multiples of the usual rate. */
const MOST_OF_USUAL = 2;
const LEAST_OF_USUAL = 0.05;
const LEAST_LEFT_MS = 100;

/**
 * A limit that is full again at one time, according to answers. The amount left may be sent at
 * once, then nothing until the end: this wastes no capacity and causes no rejections. If other
 * clients use the limit too, or ends prove wrong, the amount left is spread over the time left.
 */
export class ReportedWindow {
  #limit = Number.POSITIVE_INFINITY;
  /** The total amount sent when it began. */
  #before = 0;
  #startedAt = Number.NEGATIVE_INFINITY;
  /** When the last answer reported it. */
  #toldAt = Number.NEGATIVE_INFINITY;
  /** The bounds of the end. */
  #earliestEnd = Number.POSITIVE_INFINITY;
  #latestEnd = Number.POSITIVE_INFINITY;
  /** The longest reported time until an end. */
  #lengthMs = 1;
  /** The amount left after the last reporting attempt, when it was sent, and all sent by then. */
  #last = { remaining: 0, at: 0, total: 0 };
  #order = -1;
  /** Whether an answer has reported the present window. */
  #isTold = false;
  /** How often its end has moved before it was reached. */
  moves = 0;
  /** Whether the limit has been full again since the first report. */
  hasBegun = false;
  #isRejected = false;
  /** When rejections last disproved an end. Rejections of attempts sent before that are ignored. */
  #lostAt = Number.NEGATIVE_INFINITY;
  #confidence = 1;
  #usedByOthers = 0;
  readonly #sharing = new WindowSharing();

  /** Whether the amount left may be sent at once. */
  get isExact(): boolean {
    return this.#confidence >= 0 && this.#sharing.isAlone;
  }

  /** Whether answers show that there is no fixed end: it moves with every request. */
  get isMoving(): boolean {
    return this.moves >= MOVES;
  }

  /** The rate of a whole window, per ms. */
  get usualPerMs(): number {
    return this.#limit / this.#lengthMs;
  }

  report(report: WindowReport, now: number): void {
    const { limit, remaining, at, apartMs, order, total, totalNow } = report;
    this.begin(totalNow, now);
    if (report.isRejected && at >= this.#lostAt) this.#isRejected = true;
    const { earliestEnd: earliest, latestEnd: latest } = report;
    // A report of the last window applies to this one only if the last one is not over.
    if (at < this.#startedAt && (this.#isTold || earliest <= now + apartMs)) return;
    const used = limit - remaining;
    if (!this.#isTold) {
      this.#endsBetween(earliest, latest);
      // A rejection late in a window shows that the last window is not over yet: its usage is our
      // own. If a window has just begun, others or attempts of the last window have used it.
      const hasJustBegun = report.resetMs > JUST_BEGUN_PART * this.#lengthMs;
      if (report.isRejected && !hasJustBegun) this.#before = totalNow - used;
    } else if (earliest - apartMs > this.#latestEnd + SAME_END_MS) {
      // It is another window, or a sliding one.
      if (at < this.#earliestEnd - apartMs) this.moves += 1;
      this.#endsBetween(earliest, latest);
      this.#before = total - used;
      this.#usedByOthers = 0;
    } else {
      const narrow = apartMs > SAME_END_MS ? Math.min : Math.max;
      this.#endsBetween(narrow(this.#earliestEnd, earliest), Math.min(this.#latestEnd, latest));
    }
    this.#limit = limit;
    this.#lengthMs = Math.max(this.#lengthMs, report.resetMs);
    this.#toldAt = now;
    this.#isTold = true;
    // Concurrent attempts are counted in any order: only usage beyond all of them is certainly
    // foreign.
    this.#usedByOthers = Math.max(this.#usedByOthers, used - (totalNow - this.#before));
    const isFirst = !this.hasBegun && !report.isRejected;
    if (this.hasBegun || isFirst) this.#sharing.used(this.#usedByOthers, limit, isFirst);
    if (order < this.#order) return;
    const window = { limit, lengthMs: this.#lengthMs, isSpread: this.#isSpread };
    this.#sharing.compare(at, order, remaining + total, window);
    this.#order = order;
    this.#last = { remaining, at, total };
  }

  /** There was no demand until now: reports do not grow old in that time. */
  resumed(total: number, now: number): void {
    this.begin(total, now);
    if (this.isExact) this.#toldAt = Math.max(this.#toldAt, now);
  }

  /** Earlier attempts cost more than estimated. */
  corrected(order: number, more: number): void {
    this.#before += more;
    this.#last.total += more;
    this.#sharing.corrected(order, more);
  }

  /** Milliseconds until this amount may be sent. @param total the amount sent and not rejected */
  wait(cost: number, total: number, now: number): number {
    if (!this.#isFresh(now) || !this.isExact) return 0;
    this.begin(total, now);
    const testMs = this.#testMs(now);
    if (testMs > 0 && total > this.#before) return testMs;
    const left = this.#limit - this.#usedByOthers - (total - this.#before);
    return left >= Math.min(cost, this.#limit) ? 0 : this.#end - now;
  }

  /**
   * How much may be sent at once; Infinity: this sets no bound.
   * @param cost the cost of a usual attempt
   * @param total as for {@link wait}
   */
  left(cost: number, total: number, now: number): number {
    if (!this.#isFresh(now) || !this.isExact) return Number.POSITIVE_INFINITY;
    this.begin(total, now);
    if (this.#testMs(now) > 0) return total > this.#before ? 0 : cost;
    return Math.max(0, this.#limit - this.#usedByOthers - (total - this.#before));
  }

  /** The rate at which the amount left is spread, per ms; undefined if it may be sent at once. */
  rateAt(total: number, now: number): number | undefined {
    if (!this.#isFresh(now)) return undefined;
    this.begin(total, now);
    if (!this.#isSpread) return undefined;
    const usual = this.usualPerMs;
    const { fillPerMs } = this.#sharing;
    const last = this.#last;
    // What has come back while the answer was on its way is left, too.
    const filled = fillPerMs * (now - last.at);
    const left = last.remaining - (total - last.total) + filled;
    const perMs = left / Math.max(LEAST_LEFT_MS, this.#end - now) + fillPerMs;
    return Math.max(LEAST_OF_USUAL * usual, Math.min(MOST_OF_USUAL * usual, perMs));
  }

  /** For how long one attempt tests the end of the last window. */
  #testMs(now: number): number {
    if (this.#confidence >= TESTED || this.#isTold) return 0;
    const mostMs = Math.min(TEST_MS, MOST_TESTED_PART * this.#lengthMs);
    return Math.max(0, this.#startedAt + mostMs - now);
  }

  get #isSpread(): boolean {
    return !this.isExact || this.#sharing.isTest;
  }

  #isFresh(now: number): boolean {
    return now - this.#toldAt <= Math.max(FRESH_MS, 2 * this.#lengthMs);
  }

  get #end(): number {
    const isTested = this.#confidence >= TESTED;
    const part = isTested ? GUARD_PART : TEST_PART;
    const guardMs = Math.min(isTested ? GUARD_MS : TEST_MS, part * this.#lengthMs);
    return Math.min(this.#latestEnd, this.#earliestEnd + guardMs);
  }

  /** Begins a new window if the last one is over. @param total as for {@link wait} */
  begin(total: number, now: number): void {
    if (now < this.#end) return;
    if (this.#isRejected) {
      const lost = this.#confidence >= TESTED ? LOST_CONFIDENCE : 1;
      this.#lostAt = now;
      this.#confidence = Math.max(LEAST_CONFIDENCE, this.#confidence - lost);
    } else if (this.#isTold && this.hasBegun) {
      this.#confidence = Math.min(MOST_CONFIDENCE, this.#confidence + 1);
    }
    this.hasBegun = true;
    this.#isRejected = false;
    this.#sharing.begin();
    this.#isTold = false;
    this.#startedAt = now;
    this.#before = total;
    this.#usedByOthers = 0;
    this.#last = { remaining: this.#limit, at: now, total };
    // A window that begins with a request ends at this time, others end earlier.
    this.#endsBetween(now + this.#lengthMs, now + this.#lengthMs);
  }

  #endsBetween(earliest: number, latest: number): void {
    this.#earliestEnd = earliest;
    this.#latestEnd = latest;
  }
}
