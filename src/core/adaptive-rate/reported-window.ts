/** What an answer tells of a limit that is whole again at one time. */
export interface WindowReport {
  readonly limit: number;
  readonly remaining: number;
  /** From when the provider looked at the limit until it is whole again. */
  readonly resetMs: number;
  /** When the attempt was sent. */
  readonly at: number;
  /** The end lies between these, where it was not rounded. */
  readonly earliestEnd: number;
  readonly latestEnd: number;
  /** What the ends may have been rounded up by. */
  readonly roundedMs: number;
  readonly order: number;
  /** What had been sent and not rejected before the attempt, and by it where it was let in. */
  readonly total: number;
  /** The same when the answer came. */
  readonly totalNow: number;
  /** Whether it was rejected because too little is left. */
  readonly isRejected: boolean;
}

/** Ends that lie no further apart are one end, as far as clocks go. */
const SAME_END_MS = 10;
/** What the way to the provider may vary by: an end is waited for so much longer, ... */
const GUARD_MS = 100;
/** ... but by no more than this part of a window. */
const GUARD_PART = 0.02;
/** The same where no end has proved true yet; then one attempt tests it, for so long at the most. */
const TEST_MS = 1_000;
const TEST_PART = 0.05;
/** Of a window that was whole again in our absence more than this part is left. */
const JUST_BEGUN_PART = 0.5;
/** An end that moves so often before it has come is none. */
const MOVES = 2;
/** More than this part of the limit, and this amount, is not explained by own attempts. */
const OTHERS_PART = 0.05;
const OTHERS_LEAST = 2;
/** Reports hold for so long after the last, or for two windows. */
const FRESH_MS = 15_000;
/** Each window without a rejection proves its end; one with a rejection disproves some, or one, by a test. */
const MOST_CONFIDENCE = 4;
const TESTED = 2;
const LEAST_CONFIDENCE = -8;
const LOST_CONFIDENCE = 3;
/** What is left is spread over what is left of the time, within these parts of the usual rate. */
const MOST_OF_USUAL = 2;
const LEAST_OF_USUAL = 0.05;
const LEAST_LEFT_MS = 100;

/**
 * A limit that is whole again at one time, as far as answers tell. What is left of it may be sent at
 * once; then nothing, until its end: so neither anything of the window nor a rejection is wasted. Where
 * others use it too, or ends prove wrong, what is left is spread over the time that is left.
 */
export class ReportedWindow {
  private limit = Number.POSITIVE_INFINITY;
  /** What was sent in all when it began. */
  private before = 0;
  private startedAt = Number.NEGATIVE_INFINITY;
  /** When the first and the last answer told of it. */
  private knownAt = Number.POSITIVE_INFINITY;
  private toldAt = Number.NEGATIVE_INFINITY;
  /** The end lies between these. */
  private earliestEnd = Number.POSITIVE_INFINITY;
  private latestEnd = Number.POSITIVE_INFINITY;
  /** The longest time until an end that was told. */
  private lengthMs = 1;
  /** What was left after the latest attempt that told of it, and what had been sent by then. */
  private remaining = 0;
  private total = 0;
  private order = -1;
  /** Whether an answer has told of the present window. */
  private isTold = false;
  private hasBegun = false;
  private isRejected = false;
  private confidence = 1;
  private moves = 0;
  private usedByOthers = 0;
  private isShared = false;
  private wasShared = false;

  /** Whether what is left may be sent at once. */
  get isExact(): boolean {
    return this.confidence >= 0 && !this.isShared && !this.wasShared;
  }

  /** Whether there is no end, as far as answers tell: it moves on with what is sent. */
  get isMoving(): boolean {
    return this.moves >= MOVES;
  }

  /** What a whole window allows, per ms. */
  get usualPerMs(): number {
    return this.limit / this.lengthMs;
  }

  report(report: WindowReport, now: number): void {
    const { limit, remaining, at, roundedMs, order, total, totalNow } = report;
    this.begin(totalNow, now);
    if (report.isRejected && at >= Math.max(this.startedAt, this.knownAt)) this.isRejected = true;
    const { earliestEnd: earliest, latestEnd: latest } = report;
    // What was sent in the last window tells of this one only if that is not over.
    if (at < this.startedAt && (this.isTold || earliest <= now + roundedMs)) return;
    const used = limit - remaining;
    if (!this.isTold) {
      this.endsBetween(earliest, latest);
      // The last window is not over yet; one that has just begun is used by others, or by the last one.
      const hasJustBegun = report.resetMs > JUST_BEGUN_PART * this.lengthMs;
      if (report.isRejected && !hasJustBegun) this.before = totalNow - used;
    } else if (earliest - roundedMs > this.latestEnd + SAME_END_MS) {
      // It is another window, or one that slides.
      if (at < this.earliestEnd - roundedMs) this.moves += 1;
      this.endsBetween(earliest, latest);
      this.before = total - used;
      this.usedByOthers = 0;
    } else {
      const narrow = roundedMs > SAME_END_MS ? Math.min : Math.max;
      this.endsBetween(narrow(this.earliestEnd, earliest), Math.min(this.latestEnd, latest));
    }
    this.limit = limit;
    this.lengthMs = Math.max(this.lengthMs, report.resetMs);
    this.knownAt = Math.min(this.knownAt, now);
    this.toldAt = now;
    this.isTold = true;
    // Attempts that are out together are counted in any order: what others used is sure only beyond all.
    this.usedByOthers = Math.max(this.usedByOthers, used - (totalNow - this.before));
    const most = Math.max(OTHERS_LEAST, OTHERS_PART * limit);
    if (this.hasBegun && this.usedByOthers > most) this.isShared = true;
    if (order < this.order) return;
    this.order = order;
    this.remaining = remaining;
    this.total = total;
  }

  /** What was sent before has turned out to have cost more. */
  corrected(more: number): void {
    this.before += more;
    this.total += more;
  }

  /** Milliseconds until so much may be sent. @param total what was sent and not rejected */
  wait(cost: number, total: number, now: number): number {
    if (!this.isFresh(now) || !this.isExact) return 0;
    this.begin(total, now);
    const isTest = this.confidence < TESTED && !this.isTold && total > this.before;
    if (isTest && now < this.startedAt + TEST_MS) return this.startedAt + TEST_MS - now;
    const left = this.limit - this.usedByOthers - (total - this.before);
    return left >= Math.min(cost, this.limit) ? 0 : this.end - now;
  }

  /** At what rate to spread what is left, per ms; undefined: it may be sent at once. */
  rateAt(total: number, now: number): number | undefined {
    if (!this.isFresh(now) || this.isExact) return undefined;
    this.begin(total, now);
    const usual = this.usualPerMs;
    const left = this.remaining - (total - this.total);
    const perMs = left / Math.max(LEAST_LEFT_MS, this.end - now);
    return Math.max(LEAST_OF_USUAL * usual, Math.min(MOST_OF_USUAL * usual, perMs));
  }

  private isFresh(now: number): boolean {
    return now - this.toldAt <= Math.max(FRESH_MS, 2 * this.lengthMs);
  }

  private get end(): number {
    const isTested = this.confidence >= TESTED;
    const part = isTested ? GUARD_PART : TEST_PART;
    const guardMs = Math.min(isTested ? GUARD_MS : TEST_MS, part * this.lengthMs);
    return Math.min(this.latestEnd, this.earliestEnd + guardMs);
  }

  /** Begins a new window where the last is over. */
  private begin(total: number, now: number): void {
    if (now < this.end) return;
    if (this.isRejected) {
      const lost = this.confidence >= TESTED ? LOST_CONFIDENCE : 1;
      this.confidence = Math.max(LEAST_CONFIDENCE, this.confidence - lost);
    } else if (this.isTold && this.hasBegun) {
      this.confidence = Math.min(MOST_CONFIDENCE, this.confidence + 1);
    }
    this.hasBegun = true;
    this.isRejected = false;
    this.wasShared = this.isShared;
    this.isShared = false;
    this.isTold = false;
    this.startedAt = now;
    this.before = total;
    this.usedByOthers = 0;
    this.remaining = this.limit;
    this.total = total;
    // Windows that begin with a request end as late as this, others earlier.
    this.endsBetween(now + this.lengthMs, now + this.lengthMs);
  }

  private endsBetween(earliest: number, latest: number): void {
    this.earliestEnd = earliest;
    this.latestEnd = latest;
  }
}
